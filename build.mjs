// Bundles the commands into dist/: one small file to start, the rest loaded when a command needs it. What is named
// on the command line is built like them, beside them.

import { chmod, cp, readFile, rm } from "node:fs/promises";
import { parse } from "node:path";
import { build } from "esbuild";

const commands = ["execute-batch", "simple-gpu-scheduler", "simple-hypersearch", "sshoal"];
const { version } = JSON.parse(await readFile("package.json", "utf8"));
const files = [...commands.map((command) => `src/bin/${command}.ts`), ...process.argv.slice(2)];
await rm("dist", { recursive: true, force: true });
await build({
  entryPoints: files.map((file) => ({ in: file, out: parse(file).name })),
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  define: { SSHOAL_VERSION: JSON.stringify(version) },
  // ssh2's native speed-ups are optional: Node's own ciphers are almost as fast, and nothing has to be compiled.
  external: ["*.node", "cpu-features"],
  // ssh2 is CommonJS: it asks for Node's modules by require(), and for its own place by __dirname.
  banner: {
    js: [
      'import { createRequire as __createRequire } from "node:module";',
      "let __requireHere;", // made when it is needed: most files of dist/ never do
      "const require = (name) => (__requireHere ??= __createRequire(import.meta.url))(name);",
      'const __dirname = new URL(".", import.meta.url).pathname;',
    ].join("\n"),
  },
});
// The page of results: one script for browsers, which the command reads like the text beside it.
await build({
  entryPoints: ["src/page/main.ts"],
  outdir: "dist/page",
  bundle: true,
  format: "iife",
  target: "es2022",
  minify: true,
  legalComments: "none",
});
await Promise.all(["page.html", "style.css"].map((name) => cp(`src/page/${name}`, `dist/page/${name}`)));
await cp("src/remote/runtime", "dist/runtime", { recursive: true });
await Promise.all(commands.map((command) => chmod(`dist/${command}.js`, 0o755)));
