// A machine answers with a malicious archive: it is refused, nothing is written outside job_results, and nothing is
// freed.

import { once } from "node:events";
import { createWriteStream, existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type PackEntry, pack } from "../../src/remote/tree/pack.js";
import { LIGHT_NO_GPU, listBelow } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;
/** A directory that must not be touched. */
let outside: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "evil" });
  const tar = `#!/bin/sh\ncase $1 in -cf) exec cat "$HOME/evil.tar" ;; esac\nexec /usr/bin/tar "$@"\n`;
  await writeFile(join(host.binDir, "tar"), tar, { mode: 0o755 });
});
beforeEach(async () => {
  [work, outside] = await Promise.all([makeWorkspace(), makeWorkspace({ "mine.txt": "mine\n" })]);
});
afterEach(() => Promise.all([work.remove(), outside.remove()]));
afterAll(() => host?.stop());

const KEY = "5000000000001-1-1";

function file(path: string, text = "evil\n"): PackEntry {
  const content = Buffer.from(text);
  return { type: "File", path, mode: 0o644, size: content.length, content };
}

function link(path: string, target: string): PackEntry {
  return { type: "SymbolicLink", path, target, mode: 0o777 };
}

/** What an honest machine sends for a job. */
const HONEST = [file(`${KEY}/exit`, "0\n"), file(`${KEY}/out`, "said\n"), file(`${KEY}/err`, "")];

async function save(entries: readonly PackEntry[]): Promise<void> {
  const to = createWriteStream(join(host.homeDir, "evil.tar"));
  for await (const chunk of pack(entries)) to.write(chunk);
  to.end();
  await once(to, "close");
}

async function run() {
  await work.write("jobs.sh", "echo good > good.txt\n");
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  return runCommand(args, { cwd: work.dir });
}

function expectNothingWritten(): void {
  expect(listBelow(outside.dir)).toEqual(["mine.txt"]);
  expect(listBelow(work.dir).filter((path) => !/^(jobs\.sh$|job_results\/)/.test(path))).toEqual([]);
  expect(existsSync(work.path("job_results/jobs.sh.1"))).toBe(false);
  expect(listBelow(work.path("job_results")).filter((path) => /evil|incoming\/.*[^/]$/.test(path))).toEqual(
    [],
  );
}

/** Runs against this archive, and expects that nothing of it is accepted. */
async function expectRefused(said: RegExp): Promise<void> {
  const { code, stdout, stderr } = await run();
  expect(stdout + stderr).toMatch(said);
  expect(stderr).not.toContain("sshoal has a bug");
  expect(code).toBe(1);
  expectNothingWritten();
  expect(await outside.read("mine.txt")).toBe("mine\n");
  expect(listBelow(join(host.homeDir, ".sshoal/batches"))).toContainEqual(
    expect.stringMatching(/\/jobs\/5000000000001-1-1\/work\/good\.txt$/),
  );
}

test("names that lead outside", async () => {
  const names = [
    `${outside.dir}/evil.txt`,
    "../../../../evil.txt",
    `${KEY}/work/../../../../../evil.txt`,
    "5000000000002-2-1/work/evil.txt",
    "evil.txt",
    `${KEY}//work/evil.txt`,
  ];
  for (const name of names) {
    await save([...HONEST, file(name)]);
    await expectRefused(/the archive it sent cannot be trusted: it contains "/);
    await work.remove();
    work = await makeWorkspace();
  }
});

test("a hard link to a file that is not in it", async () => {
  await save(HONEST);
  const path = join(host.homeDir, "evil.tar");
  // A link entry, type 1, made from a symbolic one, type 2; its checksum is one less.
  await save([...HONEST, link(`${KEY}/work/evil.txt`, `${outside.dir}/mine.txt`)]);
  const bytes = await readFile(path);
  const at = bytes.indexOf(`${KEY}/work/evil.txt`);
  bytes[at + 156] = "1".charCodeAt(0);
  const sum = Number.parseInt(bytes.subarray(at + 148, at + 154).toString(), 8) - 1;
  bytes.write(sum.toString(8).padStart(6, "0"), at + 148);
  await writeFile(path, bytes);
  await expectRefused(/cannot be trusted/);
});

test("a link and, through it, a file", async () => {
  await save([...HONEST, link(`${KEY}/work/way`, outside.dir), file(`${KEY}/work/way/evil.txt`)]);
  const { stderr } = await run();
  expect(stderr).not.toContain("sshoal has a bug");
  expect(listBelow(outside.dir)).toEqual(["mine.txt"]);
});

test("links that lead outside are left out, the rest is accepted", async () => {
  await save([
    ...HONEST,
    link(`${KEY}/work/absolute`, outside.path("mine.txt")),
    link(`${KEY}/work/upwards`, "../../../../jobs.sh"),
    link(`${KEY}/work/inside`, "made.txt"),
    file(`${KEY}/work/made.txt`, "made\n"),
  ]);
  const { code, stderr } = await run();
  expect(code).toBe(0);
  expect(stderr).toMatch(/WARNING: left out: .*absolute \(a link to \S+mine\.txt, outside the results\)\n/);
  expect(stderr).toMatch(/WARNING: left out: .*upwards \(a link to/);
  expect(listBelow(work.path("job_results/jobs.sh.1"))).toEqual(["inside", "made.txt"]);
  expect(await work.read("job_results/jobs.sh.1/inside")).toBe("made\n");
});

test("links in place of the job's own directory and files", async () => {
  for (const entry of [
    link(`${KEY}/work`, outside.dir),
    link(`${KEY}/out`, outside.path("mine.txt")),
    link(KEY, outside.dir),
  ]) {
    await save([file(`${KEY}/exit`, "0\n"), entry]);
    const { stderr } = await run();
    expect(stderr).not.toContain("sshoal has a bug");
    expect(listBelow(outside.dir)).toEqual(["mine.txt"]);
    expect(await outside.read("mine.txt")).toBe("mine\n");
    await work.remove();
    work = await makeWorkspace();
  }
});

test("names that clash or are too long get others, and do no harm", async () => {
  const cases: [what: string, entries: PackEntry[], names: string[]][] = [
    ["twice", [file(`${KEY}/work/a`), file(`${KEY}/work/a`)], ["a", "a~2"]],
    ["file as directory", [file(`${KEY}/work/a`), file(`${KEY}/work/a/b`)], ["a", "a~2/", "a~2/b"]],
    ["directory as file", [file(`${KEY}/work/a/b`), file(`${KEY}/work/a`)], ["a/", "a/b", "a~2"]],
    ["link as file", [file(`${KEY}/work/a`), link(`${KEY}/work/a`, "b")], ["a", "a~2"]],
  ];
  for (const [what, entries, names] of cases) {
    await save([...HONEST, ...entries]);
    const { code, stdout, stderr } = await run();
    expect(code, what + stdout + stderr).toBe(0);
    expect(listBelow(work.path("job_results/jobs.sh.1")), what).toEqual([...names, "sshoal-renamed.txt"]);
    expect(stderr).toContain("WARNING: jobs.sh.1: the local disk does not accept 1 of its file names");
    await work.remove();
    work = await makeWorkspace();
  }
  await save([...HONEST, file(`${KEY}/work/${"a".repeat(300)}`)]);
  expect((await run()).code).toBe(0);
  expect(listBelow(work.path("job_results/jobs.sh.1"))).toEqual([
    expect.stringMatching(/^a{80}~\w{8}$/),
    "sshoal-renamed.txt",
  ]);
});

test("no archive at all, half of one, one without an exit code, one that is something else", async () => {
  const path = join(host.homeDir, "evil.tar");
  const cases: [what: string, make: () => Promise<void>][] = [
    ["text", () => writeFile(path, "Segmentation fault\n".repeat(100))],
    ["nothing", () => writeFile(path, "")],
    [
      "half",
      async () => {
        await save([...HONEST, file(`${KEY}/work/good.txt`, "x".repeat(5000))]);
        await writeFile(path, (await readFile(path)).subarray(0, 4096));
      },
    ],
    ["no exit", () => save([file(`${KEY}/out`, "said\n")])],
    ["odd exit", () => save([file(`${KEY}/exit`, "maybe\n")])],
    ["exit is a link", () => save([link(`${KEY}/exit`, outside.path("mine.txt"))])],
    ["output twice", () => save([...HONEST, file(`${KEY}/out`)])],
    ["results as a file", () => save([...HONEST, file(`${KEY}/work`), file(`${KEY}/work/evil.txt`)])],
  ];
  for (const [what, make] of cases) {
    await make();
    const { code, stdout, stderr } = await run();
    expect(stderr, what).not.toContain("sshoal has a bug");
    expect(code, what + stdout + stderr).toBe(1);
    expectNothingWritten();
    await work.remove();
    work = await makeWorkspace();
  }
});
