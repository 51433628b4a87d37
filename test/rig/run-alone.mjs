// Runs a long test on its own build, so that a rebuild of dist/ does not affect it.

import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** `entry`: the file whose `main(argv)` resolves with the exit code. */
export async function runAlone(entry, argv) {
  const cache = join(root, "node_modules", ".cache");
  await mkdir(cache, { recursive: true });
  const name = basename(dirname(entry));
  const place = await mkdtemp(join(cache, `${name}-`));
  try {
    await mkdir(join(place, "test"));
    for (const part of ["src", "package.json", "test/rig"])
      await symlink(join(root, part), join(place, part));
    execFileSync(process.execPath, [join(root, "build.mjs")], { cwd: place, stdio: "inherit" });
    // The rig looks for dist/ and its stand-ins relative to this path.
    const bundle = join(place, "test", name, "main.mjs");
    await cp(join(root, "test", "rig", "bin"), join(dirname(bundle), "bin"), { recursive: true });
    const options = { bundle: true, format: "esm", platform: "node", target: "node20" };
    const define = { SSHOAL_VERSION: '"0.0.0-test"' };
    await build({ entryPoints: [entry], outfile: bundle, define, ...options });
    const { main } = await import(bundle);
    process.exitCode = await main(argv);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
