// node test/torture/run-kill-matrix.mjs [every] [at once]: kills slots in all ways, or in every N-th of them.

import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const cache = join(root, "node_modules", ".cache");
await mkdir(cache, { recursive: true });
const place = await mkdtemp(join(cache, "kills-"));
try {
  // Where the bundle looks for the scripts of the runtime, and for stand-ins. A copy, so that an edit does not affect
  // the test.
  await cp(join(root, "src/remote/runtime"), join(place, "runtime"), { recursive: true });
  await cp(join(root, "test/rig/bin"), join(place, "bin"), { recursive: true });
  const bundle = join(place, "kills.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("kill-matrix-main.ts", import.meta.url))],
    outfile: bundle,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    define: { SSHOAL_VERSION: '"0.0.0-test"' },
  });
  // As in the unit tests, which run the same cases: slots run as the account that starts them.
  process.env.SSHOAL_TEST_REMOTE = "none";
  const { main } = await import(bundle);
  process.exitCode = await main(process.argv.slice(2));
} finally {
  await rm(place, { recursive: true, force: true });
}
