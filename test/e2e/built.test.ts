// Properties of the build that no command shows.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { expect, test } from "vitest";
import { runCommand } from "../rig/command.js";
import { useOwnHome } from "../rig/own-home.js";
import { startSshd } from "../rig/sshd.js";

const own = useOwnHome();
const DIST = new URL("../../dist/", import.meta.url);

test("ssh2's own ciphers are found from dist/, where they were compiled", (context) => {
  const ssh2 = createRequire(createRequire(import.meta.url).resolve("ssh2"));
  const from = createRequire(new URL("sshoal.js", DIST));
  const scripts = readdirSync(DIST).filter((name) => name.endsWith(".js"));
  const texts = scripts.map((name) => readFileSync(new URL(name, DIST), "utf8"));
  const [asked] = texts.flatMap((text) => /require\("([^"]+\/sshcrypto\.node)"\)/.exec(text)?.[1] ?? []);
  const compiled = find(ssh2, "./protocol/crypto/build/Release/sshcrypto.node");
  if (compiled === null) return context.skip("there was no compiler when ssh2 was installed");
  expect(find(from, asked ?? "")).toBe(compiled);
});

test("with ssh2's compiled ciphers, no other one is compiled at each start", async (context) => {
  const ssh2 = createRequire(createRequire(import.meta.url).resolve("ssh2"));
  if (find(ssh2, "./protocol/crypto/build/Release/sshcrypto.node") === null)
    return context.skip("there was no compiler when ssh2 was installed");
  const { work, home } = own;
  const hook = await work.write(
    "hook.cjs",
    `WebAssembly.instantiate = () => { require("fs").writeFileSync("compiled", ""); throw new Error("no"); };`,
  );
  const host = await startSshd({ name: "box" });
  try {
    const args = ["probe", "--no-gpu-required", "--machines", await host.machineFile()];
    const env = { NODE_OPTIONS: `--require ${hook}` };
    const { code, stderr } = await runCommand(args, {
      program: "sshoal",
      cwd: work.dir,
      home: home.dir,
      env,
    });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(existsSync(work.path("compiled"))).toBe(false);
  } finally {
    await host.stop();
  }
});

test("the program requires no package except ssh2's compiled ciphers, so the package has no dependencies", () => {
  const main = readFileSync(new URL("main.js", DIST), "utf8");
  const names = [...main.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name = ""]) => name);
  const packages = names.filter((name) => !isBuiltin(name) && name !== "./mcp.js");
  expect([...new Set(packages)]).toEqual(["ssh2/lib/protocol/crypto/build/Release/sshcrypto.node"]);
  expect(manifestOf("../").dependencies).toBeUndefined();
});

test("the tools for agents are a file of their own, which requires no package", () => {
  const tools = readFileSync(new URL("mcp.js", DIST), "utf8");
  const names = [...tools.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name = ""]) => name);
  expect(names.filter((name) => !isBuiltin(name))).toEqual([]);
  expect(tools.length).toBeLessThan(350_000);
});

test("the licence of each bundled package is in the build", () => {
  const licences = readFileSync(new URL("THIRD-PARTY.txt", DIST), "utf8");
  for (const name of [
    "chalk",
    "commander",
    "ignore",
    "p-limit",
    "ssh-config",
    "ssh2",
    "tar",
    "yaml",
    "zod",
    "@modelcontextprotocol/sdk",
  ]) {
    const { version } = manifestOf(`../node_modules/${name}/`);
    expect(licences).toContain(`${name} ${version}\n`);
  }
  const whole = readFileSync(new URL("../node_modules/ssh2/LICENSE", DIST), "utf8");
  expect(licences).toContain(whole.trim());
  expect(licences).not.toContain("vitest");
});

function manifestOf(directory: string): { version: string; dependencies?: unknown } {
  return JSON.parse(readFileSync(new URL(`${directory}package.json`, DIST), "utf8"));
}

function find({ resolve }: NodeJS.Require, name: string): string | null {
  try {
    return resolve(name);
  } catch {
    return null;
  }
}
