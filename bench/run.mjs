// node bench/run.mjs [theme…]: measures its own build, so that a rebuild of dist/ does not affect it.

import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const cache = join(root, "node_modules", ".cache");
await mkdir(cache, { recursive: true });
const place = await mkdtemp(join(cache, "bench-"));
try {
  for (const name of ["src", "bench", "package.json"]) await symlink(join(root, name), join(place, name));
  execFileSync(process.execPath, [join(root, "build.mjs"), "bench/connect-alone.ts"], {
    cwd: place,
    stdio: "inherit",
  });
  const bundle = join(place, "bench.mjs");
  // The bundle looks for them beside itself.
  await cp(join(root, "src", "remote", "runtime"), join(place, "runtime"), { recursive: true });
  await cp(join(root, "test", "rig", "bin"), join(place, "bin"), { recursive: true });
  await build({
    entryPoints: [fileURLToPath(new URL("main.ts", import.meta.url))],
    outfile: bundle,
    packages: "external",
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    define: { SSHOAL_VERSION: '"0.0.0-bench"' },
  });
  const { main } = await import(bundle);
  process.exitCode = await main({
    program: join(place, "dist", "execute-batch.js"),
    report: join(root, "docs", "benchmarks.md"),
    themes: process.argv.slice(2),
  });
} finally {
  await rm(place, { recursive: true, force: true });
}
