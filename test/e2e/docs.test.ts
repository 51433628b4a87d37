// Every block of the pages that is marked `sh runnable` runs, and exits as the page promises.

import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { STAND_IN_BIN, saveGpus } from "../rig/gpus.js";
import { type CodeBlock, codeBlocks, pagePaths, readPage } from "../rig/markdown.js";
import { useOwnHome } from "../rig/own-home.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const { bin } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  bin: Record<string, string>;
};
const own = useOwnHome();

const pages = pagePaths()
  .map((path) => ({ path, blocks: codeBlocks(readPage(path)).filter(isRunnable) }))
  .filter(({ blocks }) => blocks.length > 0);

function isRunnable({ info }: CodeBlock): boolean {
  return info[0] === "sh" && info.includes("runnable");
}

/** `exit=1` in the info string; 0 without it. */
function expectedExit({ info }: CodeBlock): number {
  const word = info.find((each) => each.startsWith("exit="));
  return word === undefined ? 0 : Number(word.slice("exit=".length));
}

/** `npm ci` needs the network: what comes after it is run. */
function scriptOf({ text }: CodeBlock): string {
  return text.replaceAll(/^npm ci && /gm, "");
}

describe.each(pages)("$path", ({ path, blocks }) => {
  test("its runnable blocks run, one after the other, in one directory", async () => {
    installCommands();
    if (path === "README.md") makeClone();
    saveGpus(own.home.path("nvidia-smi.state"), { gpus: [{}, {}, {}] });
    for (const block of blocks) {
      const { code, output } = await runBlock(scriptOf(block));
      expect(code, `${path}:${block.line}:\n${output}`).toBe(expectedExit(block));
    }
  });
});

test("the README's first command is among the blocks that are run", () => {
  const [first] = codeBlocks(readPage("README.md"));
  expect(first && isRunnable(first)).toBe(true);
  expect(first?.text).toMatch(/^npm ci && node dist\/execute-batch\.js /);
});

function installCommands(): void {
  mkdirSync(own.home.path("bin"));
  for (const [name, file] of Object.entries(bin)) symlinkSync(join(ROOT, file), own.home.path("bin", name));
}

/** What a fresh clone has that a user needs. */
function makeClone(): void {
  for (const name of ["example", "machines"])
    cpSync(join(ROOT, name), own.work.path(name), { recursive: true });
  symlinkSync(join(ROOT, "dist"), own.work.path("dist"));
}

async function runBlock(script: string): Promise<{ code: number | null; output: string }> {
  const path = [own.home.path("bin"), STAND_IN_BIN, process.env.PATH].join(":");
  const child = spawn("bash", ["-e", "-o", "pipefail", "-c", script], {
    cwd: own.work.dir,
    env: { PATH: path, HOME: own.home.dir, TERM: "dumb" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}
