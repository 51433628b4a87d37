// Builds dist/. npm runs this after `npm ci`, and for `npm install -g .`, which installs no development packages: these come first
// then, and building is a part of installing them.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

if (existsSync("node_modules/esbuild")) await import("./build.mjs");
else process.exitCode = installPackages();

function installPackages() {
  // They go into the clone, wherever the command itself is installed.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_config_(global|prefix|local_prefix|location)$/.test(name),
    ),
  );
  const npm = process.env.npm_execpath;
  const [program, ...words] = npm === undefined ? ["npm"] : [process.execPath, npm];
  return spawnSync(program, [...words, "ci"], { stdio: "inherit", env }).status ?? 1;
}
