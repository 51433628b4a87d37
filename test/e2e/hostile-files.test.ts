// Unusual files: odd names, dangling links, very many, very large. All are sent and collected unchanged.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, listBelow } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "box" });
});
beforeEach(async () => {
  work = await makeWorkspace();
});
afterEach(() => work.remove());
afterAll(() => host?.stop());

async function run(script: string, jobs: readonly string[], extra: readonly string[] = []) {
  await work.write(script, jobs.map((job) => `${job}\n`).join(""));
  const args = ["--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU, ...extra];
  const result = await runCommand([script.startsWith("-") ? `./${script}` : script, ...args], {
    cwd: work.dir,
  });
  expect(result.code, result.stdout + result.stderr).toBe(0);
  return result;
}

const ODD_NAMES = [
  "with space",
  " space around ",
  'it\'s "quoted"',
  "$HOME `id` $(id) $x",
  "new\nline",
  "tab\tand\\backslash",
  "-rf",
  "--checkpoint-action=exec=sh evil.sh",
  "*?[a]",
  "~",
  "#hash",
  "日本語-ñ-é-🐟",
  "e\u0301 is not \u00e9",
  ".hidden",
  "a".repeat(200),
];

test("unusual names of files and directories", async () => {
  for (const name of ODD_NAMES) {
    await work.write(join("files", name), `content of ${name}`);
    await work.write(join("directories", name, "file"), name);
  }
  // All files are changed, so that all are collected; and new files of the same names are made.
  await run("jobs.sh", [
    "find . -type f -exec sh -c 'for f; do printf + >> \"$f\"; done' sh {} +; cp -r files new",
  ]);
  const results = work.path("job_results/jobs.sh.1");
  for (const name of ODD_NAMES) {
    expect(await readFile(join(results, "files", name), "utf8")).toBe(`content of ${name}+`);
    expect(await readFile(join(results, "new", name), "utf8")).toBe(`content of ${name}+`);
    expect(await readFile(join(results, "directories", name, "file"), "utf8")).toBe(`${name}+`);
  }
  expect((await readdir(join(results, "files"))).sort()).toEqual([...ODD_NAMES].sort());
});

test("names that are no UTF-8, too long when decoded, or too deep: all are collected", async () => {
  const deep = 'd=$(printf "%0250d" 0); for i in $(seq 20); do mkdir $d; cd -P $d; done; echo deep > f';
  const { stderr } = await run("jobs.sh", [
    "echo 1 > $(printf 'a\\377'); echo 2 > $(printf 'a\\376'); echo 3 > $(printf '\\377%.0s' $(seq 250)); echo 4 > plain",
    `dash -c '${deep}'`,
  ]);
  expect(stderr).toContain(
    "WARNING: jobs.sh.1: the local disk does not accept 2 of its file names; sshoal-renamed.txt in",
  );
  const dir = work.path("job_results/jobs.sh.1");
  const texts = (await readdir(dir)).filter((name) => name !== "sshoal-renamed.txt");
  expect((await Promise.all(texts.map((name) => readFile(join(dir, name), "utf8")))).sort()).toEqual([
    "1\n",
    "2\n",
    "3\n",
    "4\n",
  ]);
  expect(await readFile(join(dir, "sshoal-renamed.txt"), "utf8")).toMatch(/^a\uFFFD~2\t"a\uFFFD"$/m);
  const [found = ""] = listBelow(work.path("job_results/jobs.sh.2")).filter((path) => path.endsWith("/f"));
  expect(await work.read(`job_results/jobs.sh.2/${found}`)).toBe("deep\n");
  expect(listBelow(join(host.homeDir, ".sshoal/batches"))).toEqual([]);
});

test("unusual names in --copy-forward and --copy-backwards", async () => {
  const names = ODD_NAMES.filter((name) => !name.includes("\n"));
  for (const name of names) await work.write(join(name, "in"), name);
  const paths = names.map((name) => `./${name}`);
  await run(
    "jobs.sh",
    ['for d in ./* ./.hidden; do [ -e "$d/in" ] && cp "$d/in" "$d/out"; done; true'],
    ["--copy-forward", ...paths, "--copy-backwards", ...paths],
  );
  const results = work.path("job_results/jobs.sh.1");
  expect((await readdir(results)).sort()).toEqual([...names].sort());
  for (const name of names) expect(await readFile(join(results, name, "out"), "utf8")).toBe(name);
});

test("unusual names of the script itself", async () => {
  const scripts = [
    'it\'s a "script" $(id).sh',
    "-n.sh",
    "données/été.sh",
    "a@b.sh",
    "new\nline.sh",
    `${"x".repeat(240)}.sh`,
  ];
  for (const script of scripts) {
    const { stdout } = await run(script, ["echo $SSHOAL_JOB; echo made > made.txt"]);
    const [, name = ""] = /^finished: (.*?); echo/m.exec(stdout) ?? [];
    expect(name).toMatch(/\.1$/);
    expect(await work.read(`job_results/${name}.out`)).toBe(`${name}\n`);
    expect(await work.read(`job_results/${name}/made.txt`)).toBe("made\n");
  }
  const names = (await readdir(work.path("job_results"))).filter((name) => name.endsWith(".out"));
  expect(names).toHaveLength(scripts.length);
  // Nothing that is special in a shell.
  for (const name of names) expect(name).toMatch(/^[\p{L}\p{M}\p{N}_][\p{L}\p{M}\p{N}._+=@,%-]*$/u);
});

test("links: to files, directories, nothing, themselves and each other", async () => {
  await work.write("data/file.txt", "data\n");
  const links: Record<string, string> = {
    "to-file": "data/file.txt",
    "to-directory": "data",
    dangling: "no/such/file",
    itself: "itself",
    ping: "pong",
    pong: "ping",
    "data/up": "..",
    absolute: "/etc/hostname",
  };
  for (const [name, target] of Object.entries(links)) await symlink(target, work.path(name));
  const { stderr } = await run("jobs.sh", [
    "for l in to-file to-directory dangling itself ping pong data/up absolute; do readlink $l; done; cat to-file to-directory/file.txt",
    // Made again by the job, so that they are results.
    "mkdir out; cd out; ln -s ../data/file.txt in; ln -s nowhere dangling; ln -s itself itself; ln -s b a; ln -s a b; ln -s . here; ln -s ../../../../.. out; ln -s /etc/hostname absolute; ln -s \"with 'quotes' \" odd; echo x > x; ln x hard",
  ]);
  expect(await work.read("job_results/jobs.sh.1.out")).toBe(
    `${Object.values(links).join("\n")}\ndata\ndata\n`,
  );
  expect(listBelow(work.path("job_results/jobs.sh.1"))).toEqual([]);
  const made = work.path("job_results/jobs.sh.2/out");
  expect((await readdir(made)).sort()).toEqual([
    "a",
    "b",
    "dangling",
    "hard",
    "here",
    "in",
    "itself",
    "odd",
    "x",
  ]);
  expect(await readlink(join(made, "in"))).toBe("../data/file.txt");
  expect(await readlink(join(made, "odd"))).toBe("with 'quotes' ");
  expect(await readFile(join(made, "hard"), "utf8")).toBe("x\n");
  expect(stderr).toMatch(
    /WARNING: left out: .*absolute \(a link to \/etc\/hostname, outside the results\)\n/,
  );
  expect(stderr).toMatch(
    /WARNING: left out: .*out \(a link to \.\.\/\.\.\/\.\.\/\.\.\/\.\., outside the results\)\n/,
  );
});

test("pipes and sockets are not sent, and that is reported", async () => {
  const { stderr } = await run("jobs.sh", ["mkfifo pipe; echo x > file"]);
  expect(stderr).toMatch(/WARNING: left out: .*pipe \(neither file, directory nor link\)\n/);
  expect(listBelow(work.path("job_results/jobs.sh.1"))).toEqual(["file"]);
});

test("ten thousand small files, sent and collected", async () => {
  await mkdir(work.path("in"));
  for (let dir = 0; dir < 100; dir++) {
    await mkdir(work.path("in", String(dir)));
    await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        writeFile(work.path("in", String(dir), String(n)), `${dir} ${n}\n`),
      ),
    );
  }
  const { stderr } = await run("jobs.sh", ["find in -type f | wc -l; cp -r in out"]);
  expect(stderr).toMatch(/^copying 10001 files, /);
  expect((await work.read("job_results/jobs.sh.1.out")).trim()).toBe("10000");
  expect(listBelow(work.path("job_results/jobs.sh.1")).filter((path) => !path.endsWith("/"))).toHaveLength(
    10_000,
  );
  expect(await work.read("job_results/jobs.sh.1/out/42/17")).toBe("42 17\n");
});

// Large enough to fill every buffer on the way many times; a GB would only take longer.
test("a file of 200 MB, sent and collected", async () => {
  const megabytes = 200;
  const file = await open(work.path("big.bin"), "w");
  const block = Buffer.alloc(1 << 20);
  for (let n = 0; n < megabytes; n++) {
    block.writeUInt32LE(n, n);
    await file.write(block);
  }
  await file.close();
  await run("jobs.sh", ["mv big.bin back.bin; sha256sum < back.bin"]);
  const sha256 = await hashOf(work.path("big.bin"));
  expect(await work.read("job_results/jobs.sh.1.out")).toBe(`${sha256}  -\n`);
  expect(await hashOf(work.path("job_results/jobs.sh.1/back.bin"))).toBe(sha256);
});

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
}
