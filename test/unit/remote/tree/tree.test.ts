import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { chmod, mkdir, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ExitCode, UserError } from "../../../../src/errors.js";
import { scanTree, type Tree } from "../../../../src/remote/tree/tree.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let box: Workspace;

beforeEach(async () => {
  box = await makeWorkspace();
  await chmod(box.dir, 0o755);
});
afterEach(async () => {
  await box.remove();
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) await box.write(path, text);
}

const scan = (...paths: string[]) => scanTree(box.dir, paths.length === 0 ? ["."] : paths);
const pathsOf = ({ entries }: Tree) => entries.map(({ path }) => path);

const isRoot = process.getuid?.() === 0;
/** Root may read everything, so this switches to another user for a while. */
async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (isRoot) process.seteuid?.(65534);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

describe("what is sent", () => {
  test("a read-only directory is writable for its owner in the copy, and a file keeps its mode", async () => {
    await write({ "closed/data": "1" });
    await chmod(box.path("closed/data"), 0o444);
    await chmod(box.path("closed"), 0o555);
    expect((await scan()).entries).toMatchObject([
      { path: "closed", mode: 0o755 },
      { path: "closed/data", mode: 0o444 },
    ]);
  });

  test("files, directories, also empty ones, and their size", async () => {
    await write({ "b.txt": "12", "a/c.txt": "345", "a/run.sh": "#!/bin/sh\n" });
    await mkdir(box.path("a/empty"));
    const tree = await scan();
    expect(tree.entries).toMatchObject([
      { path: "a", type: "Directory" },
      { path: "a/c.txt", type: "File", size: 3, mode: 0o644 },
      { path: "a/empty", type: "Directory" },
      { path: "a/run.sh", type: "File", mode: 0o755 },
      { path: "b.txt", type: "File", size: 2 },
    ]);
    expect([tree.bytes, tree.leftOut]).toEqual([15, []]);
  });

  test("an empty tree has no hash", async () => {
    expect(await scan()).toMatchObject({ hash: "", entries: [], bytes: 0 });
  });

  test("a directory comes before its content, whatever sorts between", async () => {
    await write({ "a/x": "", "a-b": "", "a.c/y": "", "a b": "" });
    const paths = pathsOf(await scan());
    for (const path of paths) {
      const parent = path.split("/").slice(0, -1).join("/");
      if (parent !== "") expect(paths.indexOf(parent)).toBeLessThan(paths.indexOf(path));
    }
  });

  test("results and git's history are not sent, the latter at any depth", async () => {
    await write({ "job_results/x/y": "", ".git/HEAD": "", "sub/.git/HEAD": "", "sub/job_results/kept": "" });
    const { leftOut, ...tree } = await scan();
    expect(pathsOf({ ...tree, leftOut })).toEqual(["sub", "sub/job_results", "sub/job_results/kept"]);
    expect(leftOut).toEqual([".git", "job_results", "sub/.git"]);
  });

  test("names of every kind", async () => {
    const names = [
      "-rf",
      "a b",
      "new\nline",
      "é",
      "e\u0301",
      "日",
      "😀",
      "it's",
      "*",
      "#x",
      "!y",
      "\\",
      "$x",
    ];
    await write(Object.fromEntries(names.map((name) => [name, name])));
    expect(pathsOf(await scan()).toSorted()).toEqual(names.toSorted());
  });

  test("links are sent as links, wherever they lead, and are not followed", async () => {
    await write({ "d/x": "1" });
    await symlink("nowhere", box.path("dangling"));
    await symlink(".", box.path("d/cycle"));
    await symlink("/etc", box.path("far"));
    expect((await scan()).entries.filter(({ type }) => type === "SymbolicLink")).toMatchObject([
      { path: "d/cycle", target: "." },
      { path: "dangling", target: "nowhere" },
      { path: "far", target: "/etc" },
    ]);
  });

  test("pipes and sockets are left out and reported", async () => {
    execFileSync("mkfifo", [box.path("pipe")]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(box.path("socket"), resolve));
    try {
      const { entries, leftOut } = await scan();
      expect(entries).toEqual([]);
      expect(leftOut).toEqual(["pipe (a socket, pipe or device)", "socket (a socket, pipe or device)"]);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe("the ignore file", () => {
  test("leaves out what its rules name, but not itself; a later rule overrides an earlier one", async () => {
    await write({ ".sshoalignore": "*.log\n# a comment\n/data/\nbuild\n!keep.log\n\n" });
    await write({
      "a.log": "",
      "keep.log": "",
      "sub/b.log": "",
      "data/x": "",
      "sub/data/y": "",
      "sub/build/z": "",
    });
    const tree = await scan();
    expect(pathsOf(tree)).toEqual([".sshoalignore", "keep.log", "sub", "sub/data", "sub/data/y"]);
    expect(tree.leftOut).toEqual(["a.log", "data", "sub/b.log", "sub/build"]);
  });

  test("a nested one applies to its directory and below, and takes precedence over those above", async () => {
    await write({ ".sshoalignore": "*.log\n", "a/.sshoalignore": "!keep.log\n/x\n" });
    await write({ "a/keep.log": "", "a/b/keep.log": "", "a/other.log": "", "keep.log": "" });
    await write({ "a/x": "", "a/b/x": "", x: "" });
    const tree = await scan();
    expect(pathsOf(tree)).toEqual([
      ".sshoalignore",
      "a",
      "a/.sshoalignore",
      "a/b",
      "a/b/keep.log",
      "a/b/x",
      "a/keep.log",
      "x",
    ]);
    expect(tree.leftOut).toEqual(["a/other.log", "a/x", "keep.log"]);
  });

  test("no rule includes what is never sent", async () => {
    await write({ ".sshoalignore": "!.git\n!/job_results\n", ".git/HEAD": "", "job_results/x": "" });
    expect((await scan()).leftOut).toEqual([".git", "job_results"]);
  });

  test("rules are case-sensitive", async () => {
    await write({ ".sshoalignore": "Data\n", "data/x": "", "Data/x": "" });
    expect(pathsOf(await scan())).toEqual([".sshoalignore", "data", "data/x"]);
  });

  test("a rule for directories does not apply to a file of that name", async () => {
    await write({ ".sshoalignore": "cache/\n", cache: "a file" });
    expect(pathsOf(await scan())).toContain("cache");
  });

  test("a path that is left out need not be readable", async () => {
    await write({ ".sshoalignore": "secret\n", "secret/x": "" });
    await chmod(box.path("secret"), 0);
    expect((await asOrdinaryUser(() => scan())).leftOut).toEqual(["secret"]);
  });
});

describe("a part of the working directory", () => {
  beforeEach(() => write({ "src/a.py": "1", "src/deep/b.py": "2", "data/x": "3", "data/y": "4", top: "5" }));

  test("files and directories as named, with the directories above them", async () => {
    expect(pathsOf(await scan("src/deep", "data/x"))).toEqual([
      "data",
      "data/x",
      "src",
      "src/deep",
      "src/deep/b.py",
    ]);
  });

  test("named twice, or within one another, they are sent once and left out once", async () => {
    await write({ "src/x.log": "", ".sshoalignore": "*.log" });
    const once = await scan("src");
    const twice = await scan("src", "src/", "./src/deep", "src/x.log");
    expect(twice.hash).toBe(once.hash);
    expect(twice.leftOut).toEqual(["src/x.log"]);
  });

  test("an unnamed part does not change the hash", async () => {
    const before = await scan("src");
    await write({ "data/x": "changed" });
    expect((await scan("src")).hash).toBe(before.hash);
  });

  test("a path through a link is a mistake: on the machine the link would lead elsewhere", async () => {
    await symlink("src", box.path("alias"));
    const error = await scan("alias/deep").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).message).toContain("alias");
  });

  test("a missing path is a mistake", async () => {
    await expect(scan("missing")).rejects.toThrow(/^missing: cannot be read for copying/);
  });
});

describe("the hash", () => {
  beforeEach(() => write({ "a/x": "1", y: "2" }));

  async function expectHash(change: () => Promise<unknown>): Promise<{ toChange: boolean }> {
    const before = await scan();
    await change();
    return { toChange: (await scan()).hash !== before.hash };
  }

  test.each<[string, boolean, () => Promise<unknown>]>([
    ["time alone", false, () => utimes(box.path("y"), 1, 1)],
    ["the same content written again", false, () => writeFile(box.path("y"), "2")],
    [
      "content of the same length, at the same time",
      true,
      async () => {
        await utimes(box.path("y"), 1, 1);
        await writeFile(box.path("y"), "3");
        await utimes(box.path("y"), 1, 1);
      },
    ],
    ["mode bits", true, () => chmod(box.path("y"), 0o755)],
    ["a new empty directory", true, () => mkdir(box.path("z"))],
    ["a new empty file", true, () => writeFile(box.path("z"), "")],
    ["one file fewer", true, () => rm(box.path("y"))],
    [
      "a file that became a link",
      true,
      async () => {
        await rm(box.path("y"));
        await symlink("2", box.path("y"));
      },
    ],
  ])("%s: changes it: %s", async (_, changes, change) => {
    expect(await expectHash(change)).toEqual({ toChange: changes });
  });

  test("is the same for a directory at any path", async () => {
    const other = await makeWorkspace({ "a/x": "1", y: "2" });
    try {
      expect((await scanTree(other.dir, ["."])).hash).toBe((await scan()).hash);
    } finally {
      await other.remove();
    }
  });
});

test("all unreadable paths are reported at once, with a hint", async () => {
  await write({ good: "1", bad: "2", "dir/x": "3" });
  await chmod(box.path("bad"), 0);
  await chmod(box.path("dir"), 0);
  const error = (await asOrdinaryUser(() => scan().catch((reason: unknown) => reason))) as UserError;
  await chmod(box.path("dir"), 0o755);
  expect(error).toBeInstanceOf(UserError);
  expect(error.exitCode).toBe(ExitCode.BadInput);
  expect(error.message.split("\n").toSorted()).toEqual(
    ["bad", "dir"].map(
      (name) =>
        `${name}: cannot be read for copying: EACCES (make it readable, or exclude it with a line in .sshoalignore)`,
    ),
  );
});

test("a file that is removed while the directory is read is left out and named", async () => {
  const gone = Array.from({ length: 30 }, (_, at) => `gone-${at}`);
  for (const name of gone) await box.write(name, "1");
  // Their holes take a while to read, wherever the directory lists them.
  for (let at = 0; at < 10; at++) await truncate(await box.write(`large-${at}`, ""), 32 << 20);
  const scanning = scanTree(box.dir, ["."]);
  for (const name of gone) rmSync(box.path(name));
  const { entries, warnings = [] } = await scanning;
  const found = entries.map(({ path }) => path).filter((path) => path.startsWith("gone-"));
  const message = (name: string) =>
    `${name} is left out: it was removed while the working directory was read`;
  expect(warnings.length).toBeGreaterThan(0);
  expect([...warnings].sort()).toEqual(
    gone
      .filter((name) => !found.includes(name))
      .map(message)
      .sort(),
  );
});
