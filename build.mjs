// Bundles the program into dist/: one script with all of it, and a small one to start it for each command. What is named
// on the command line is bundled beside them, each by itself.

import { createHash } from "node:crypto";
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, parse, posix } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const commands = [
  "execute-batch",
  "execute-remote",
  "grass",
  "simple-gpu-scheduler",
  "simple-hypersearch",
  "sshoal",
];
const { version } = JSON.parse(await readFile("package.json", "utf8"));

/**
 * ssh2 loads all of its parts at once, with Node's http and tls. The client is bundled, and the server for the first use of
 * it. Its compiled
 * ciphers save a third of what a gigabyte costs. They are not bundled, but required from an ssh2 that dist/ can resolve: the
 * clone's, or one that is installed beside the package. Where there is none, ssh2 uses Node's ciphers, and compiles one of its
 * own at each start.
 */
const clientOfSsh2 = {
  name: "client-of-ssh2",
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\/ssh2\/lib\/(http-agents|keygen)\.js$/ }, () => ({
      contents: "module.exports = {};",
    }));
    onLoad({ filter: /\/ssh2\/lib\/index\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const contents = text.replace(
        "Server: require('./server.js'),",
        "get Server() { return require('./server.js'); },",
      );
      if (contents === text) throw new Error(`${path} loads its server in another way`);
      return { contents };
    });
    onLoad({ filter: /\/ssh2\/lib\/protocol\/crypto\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const begin = "POLY1305_WASM_MODULE = await";
      const contents = text.replace(begin, `if (binding) return resolve();\n        ${begin}`);
      if (contents === text) throw new Error(`${path} prepares its ciphers in another way`);
      return { contents };
    });
    onResolve({ filter: /\/sshcrypto\.node$/ }, ({ path }) => ({
      path: posix.join("ssh2/lib/protocol", path),
      external: true,
    }));
    onResolve({ filter: /^cpu-features$/ }, ({ path }) => ({ path, namespace: "left-out" }));
    onLoad({ filter: /./, namespace: "left-out" }, () => ({ contents: 'throw new Error("left out");' }));
  },
};

/** `require` of a literal is bundled, and evaluated only when it is called: most runs have no use for JSON5. */
const lazyJson5 = {
  name: "lazy-json5",
  setup({ onLoad }) {
    const contents = 'export const loadJson5 = () => require("json5");';
    onLoad({ filter: /\/need\/load-json5\.ts$/ }, () => ({ contents, resolveDir: process.cwd() }));
  },
};

/** The tools for agents are a file of their own beside main.js, since the SDK that they need is for one command alone. */
const lazyMcp = {
  name: "lazy-mcp",
  setup({ onLoad }) {
    const contents = 'export const loadMcp = async () => require("./mcp.js");';
    onLoad({ filter: /\/commands\/load-mcp\.ts$/ }, () => ({ contents, resolveDir: process.cwd() }));
  },
};

/** The SDK checks answers that only clients and forms have with ajv, which is larger than all that is used of the SDK. */
const sdkWithoutAjv = {
  name: "sdk-without-ajv",
  setup({ onLoad }) {
    const contents =
      'export class AjvJsonSchemaValidator { getValidator() { throw new Error("left out"); } }';
    onLoad({ filter: /\/validation\/ajv-provider\.js$/ }, () => ({ contents }));
  },
};

const bundled = {
  bundle: true,
  // Has compiled code, and only the service loads it.
  external: ["@photostructure/sqlite", "./mcp.js"],
  plugins: [lazyJson5],
  platform: "node",
  target: "node20",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
};
const program = {
  ...bundled,
  plugins: [clientOfSsh2, lazyJson5, lazyMcp],
};

await rm("dist", { recursive: true, force: true });
await mkdir("dist");
// CommonJS, since V8's work on it can be kept from one start to the next (src/start.ts), with any Node.
await writeFile("dist/package.json", '{ "type": "commonjs" }\n');
const {
  outputFiles: [main],
  metafile: programParts,
} = await build({
  ...program,
  entryPoints: ["src/main.ts"],
  write: false,
  metafile: true,
  format: "cjs",
  define: { SSHOAL_VERSION: JSON.stringify(version), "import.meta.url": "__url" },
  banner: { js: 'const __url = require("node:url").pathToFileURL(__filename).href;' },
});
await writeFile("dist/main.js", main.contents);
const mainHash = createHash("sha256").update(main.contents).digest("hex").slice(0, 16);
const { metafile: mcpParts } = await build({
  ...bundled,
  plugins: [lazyJson5, sdkWithoutAjv],
  entryPoints: [{ in: "src/mcp/serve-mcp.ts", out: "mcp" }],
  outdir: "dist",
  metafile: true,
  format: "cjs",
  define: { SSHOAL_VERSION: JSON.stringify(version) },
});
await build({
  ...bundled,
  entryPoints: commands.map((command) => `src/bin/${command}.ts`),
  outdir: "dist",
  format: "cjs",
  define: { SSHOAL_BUILD: JSON.stringify(mainHash) },
});
await build({
  ...program,
  entryPoints: process.argv.slice(2).map((file) => ({ in: file, out: parse(file).name })),
  outdir: "dist",
  outExtension: { ".js": ".mjs" },
  splitting: true,
  format: "esm",
  define: { SSHOAL_VERSION: JSON.stringify(version) },
  banner: {
    js: [
      'import { createRequire as __createRequire } from "node:module";',
      "const require = __createRequire(import.meta.url);",
      'const __dirname = new URL(".", import.meta.url).pathname;',
    ].join("\n"),
  },
});
// The page of results: one script for browsers, which the command reads like the text beside it.
const { metafile: pageParts } = await build({
  entryPoints: ["src/page/draw-page.ts"],
  outdir: "dist/page",
  bundle: true,
  format: "iife",
  target: "es2022",
  minify: true,
  metafile: true,
  legalComments: "none",
});
await Promise.all(["page.html", "style.css"].map((name) => cp(`src/page/${name}`, `dist/page/${name}`)));
await joinRuntime();
await writePages();
await Promise.all(commands.map((command) => chmod(`dist/${command}.js`, 0o755)));
await writeFile("dist/THIRD-PARTY.txt", await licencesOf([programParts, mcpParts, pageParts]));

/** The scripts for machines, each in one file, joined by the same code as in tests. */
async function joinRuntime() {
  const { joinScript } = await load("src/remote/join-script.ts");
  await mkdir("dist/runtime");
  for (const name of await readdir("src/remote/runtime")) {
    if (!/\.(sh|bash|awk)$/.test(name)) continue;
    await writeFile(`dist/runtime/${name}`, joinScript(pathToFileURL(`src/remote/runtime/${name}`)));
  }
}

/** Man pages, and completion for shells, from the definitions of options. */
async function writePages() {
  const { makePages } = await load("src/cli/help/pages.ts");
  const template = (shell) => readFile(`src/cli/help/complete.${shell}`, "utf8");
  const [bash, zsh, fish] = await Promise.all(["bash", "zsh", "fish"].map(template));
  for (const [path, text] of makePages({ bash, zsh, fish })) {
    await mkdir(`dist/${parse(path).dir}`, { recursive: true });
    await writeFile(`dist/${path}`, text);
  }
}

/** What a module of the sources exports, for the build itself. */
async function load(file) {
  const {
    outputFiles: [code],
  } = await build({
    ...bundled,
    entryPoints: [file],
    write: false,
    format: "esm",
    define: { SSHOAL_VERSION: JSON.stringify(version) },
    // commander asks for Node's modules when it is loaded.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire("/");' },
  });
  return import(`data:text/javascript;base64,${Buffer.from(code.contents).toString("base64")}`);
}

/** The licence of every package that is bundled: dist/ is a copy of them, and most licences ask to be copied along. */
async function licencesOf(metafiles) {
  const files = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const directories = files.flatMap((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  const texts = await Promise.all([...new Set(directories)].sort().map(licenceOf));
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

async function licenceOf(directory) {
  const manifest = JSON.parse(await readFile(join(directory, "package.json"), "utf8"));
  const name = (await readdir(directory)).find((file) => /^licen[cs]e/i.test(file));
  if (name === undefined) throw new Error(`${directory} has no licence file to ship`);
  const text = await readFile(join(directory, name), "utf8");
  return `${manifest.name} ${manifest.version}\n\n${text.trim()}\n`;
}
