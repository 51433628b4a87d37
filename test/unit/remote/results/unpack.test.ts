import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { chmod, link, lstat, mkdir, rm, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import fc from "fast-check";
import { Header } from "tar";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RemoteError } from "../../../../src/remote/engine/remote-error.js";
import { unpack } from "../../../../src/remote/results/unpack.js";
import { entriesBelow } from "../../../rig/entries-below.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let box: Workspace;
let into: string;

beforeEach(async () => {
  box = await makeWorkspace({ "outside/mine": "mine" });
  into = box.path("into");
  await mkdir(into);
});
afterEach(async () => {
  // Paths can be too long for Node.
  execFileSync("rm", ["-rf", box.path("there")]);
  await box.remove();
});

type EntryType = "File" | "Directory" | "SymbolicLink" | "Link" | "FIFO" | "CharacterDevice" | "BlockDevice";

function entry(
  type: EntryType,
  path: string,
  facts: { link?: string; text?: string; mode?: number } = {},
): Buffer {
  const { text = "", mode = 0o644 } = facts;
  const header = new Header({
    path,
    mode,
    type,
    size: text.length,
    mtime: new Date(0),
    uid: 0,
    gid: 0,
    ...(facts.link !== undefined && { linkpath: facts.link }),
  });
  const block = Buffer.alloc(512);
  header.encode(block, 0);
  const padding = Buffer.alloc((512 - (text.length % 512)) % 512);
  return Buffer.concat([block, Buffer.from(text), padding]);
}

const file = (path: string, text = "1") => entry("File", path, { text });
const dir = (path: string) => entry("Directory", path, { mode: 0o755 });
const symbolic = (path: string, target: string) => entry("SymbolicLink", path, { link: target });
const END = Buffer.alloc(1024);

function unpackAll(...entries: Buffer[]) {
  return unpackBytes(Buffer.concat([...entries, END]));
}

function unpackBytes(bytes: Buffer, pieceBytes = 65_536) {
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, n) =>
    bytes.subarray(n * pieceBytes, (n + 1) * pieceBytes),
  );
  return unpack(Readable.from(pieces, { objectMode: false }), into, {
    allows: (top) => top === "k" || top === "l",
    keeps: (name) => name === "k/exit",
  });
}

/** Everything below a directory, links with their targets. */
function look(below: string): string[] {
  return entriesBelow(below)
    .map((each) => {
      const path = join(each.parentPath, each.name);
      const name = path.slice(below.length + 1);
      if (each.isSymbolicLink()) return `${name} -> ${readlinkSync(path)}`;
      return each.isDirectory() ? `${name}/` : name;
    })
    .toSorted();
}

async function expectRejected(unpacking: Promise<unknown>): Promise<void> {
  const error = await unpacking.then(
    () => new Error("it was taken"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RemoteError);
  expect(look(box.dir).filter((path) => !path.startsWith("into"))).toEqual(["outside/", "outside/mine"]);
  expect(openBelow(box.dir)).toEqual([]);
}

/** Files that this process still has open: they would disturb the removal of the directory. */
function openBelow(below: string): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(below) ? [path] : [];
    } catch {
      return [];
    }
  });
}

describe("archives that lead outside", () => {
  test.each<[string, () => Buffer[]]>([
    ["an absolute path", () => [file(join(box.dir, "outside/evil"))]],
    ["an absolute path after a good file", () => [file("k/a"), file("/k/a")]],
    ["up and out", () => [file("k/../../outside/evil")]],
    ["up at the end", () => [dir("k/work/..")]],
    ["up at the start", () => [file("../outside/evil")]],
    ["nothing but a dot", () => [dir("./")]],
    ["an empty part", () => [file("k//a")]],
    ["a job that was not requested", () => [file("m/work/a")]],
    ["a name that only begins like a requested one", () => [file("kk/work/a")]],
    ["a hard link to a file outside", () => [entry("Link", "k/work/h", { link: "/etc/passwd" })]],
    ["a hard link up and out", () => [entry("Link", "k/work/h", { link: "k/../../outside/mine" })]],
    ["our own file twice", () => [file("k/out"), file("k/out", "2")]],
    ["our own directory as a file", () => [file("k/work"), file("k/work/a")]],
    ["our own file as a directory", () => [dir("k/out"), file("k/out")]],
  ])("are rejected, and nothing is written outside: %s", async (_, entries) => {
    await expectRejected(unpackAll(...entries()));
  });

  test("a file through a link that leads outside is put inside, and the link is not made", async () => {
    const { leftOut } = await unpackAll(symbolic("k/work/d", "../../../outside"), file("k/work/d/x"));
    expect(leftOut).toEqual(["k/work/d (a link to ../../../outside, outside the results)"]);
    expect(look(box.dir)).toEqual(
      ["into/", "into/k/", "into/k/work/", "into/k/work/d/", "into/k/work/d/x"].concat([
        "outside/",
        "outside/mine",
      ]),
    );
  });

  test("a link below a link is not made at the target of the first one", async () => {
    // Made through the first one, which leads to k/work, the second would lead out of the results.
    const links = [symbolic("k/work/1/2/up", "../.."), symbolic("k/work/1/2/up/out", "../../..")];
    for (const [n, entries] of [links, links.toReversed()].entries()) {
      into = box.path(`into-${n}`);
      await mkdir(into);
      await unpackAll(...entries);
      const made = look(into).filter((path) => path.includes(" -> "));
      expect(made).toEqual(["k/work/1/2/up/out -> ../../..", "k/work/1/2/up~2 -> ../.."]);
    }
  });

  test.each([
    ["absolute", "/etc/passwd"],
    ["up and out", "../../l/work/secret"],
    ["out of the results into the job's own files", "../exit"],
    ["up behind the name of another link", "1/2/up/../../.."],
    ["empty", ""],
  ])("a link that leads outside is left out and reported: %s", async (_, target) => {
    const entries = [
      file("k/work/a"),
      symbolic("k/work/1/2/up", "../.."),
      symbolic("k/work/bad", target || "\0"),
    ];
    if (target === "") return expectRejected(unpackAll(...entries)); // no tool makes one
    const { leftOut } = await unpackAll(...entries);
    expect(leftOut).toEqual([`k/work/bad (a link to ${target}, outside the results)`]);
    expect(look(into)).not.toContain("k/work/bad");
  });

  test("links that stay inside are made, also dangling and circular ones", async () => {
    const links = {
      "k/work/d/up": "../a",
      "k/work/same": "a",
      "k/work/nowhere": "x/y",
      "k/work/self": "self",
    };
    const { leftOut, written } = await unpackAll(
      dir("k/work/d"),
      ...Object.entries(links).map(([path, target]) => symbolic(path, target)),
      file("k/work/a"),
    );
    expect(leftOut).toEqual([]);
    expect(look(into).filter((path) => path.includes(" -> "))).toEqual(
      Object.entries(links)
        .map(([path, target]) => `${path} -> ${target}`)
        .toSorted(),
    );
    expect(written.get("k")?.files).toBe(5);
  });
});

describe("names that the local disk refuses", () => {
  const NOTE = "k/work/sshoal-renamed.txt";

  test.each<[string, Buffer[], string[]]>([
    ["the same file twice", [file("k/work/a"), file("k/work/a", "2")], ["a", "a~2"]],
    ["the same file in two spellings", [file("k/work/a"), file("./k/./work/a", "2")], ["a", "a~2"]],
    [
      "a name that a renamed file would get",
      [file("k/work/a"), file("k/work/a~2"), file("k/work/a")],
      ["a", "a~2", "a~3"],
    ],
    ["a file that is a directory", [file("k/work/a"), file("k/work/a/b")], ["a", "a~2/", "a~2/b"]],
    ["a directory that is a file", [dir("k/work/a"), file("k/work/a")], ["a/", "a~2"]],
    ["a file through a link", [symbolic("k/work/d", "e"), file("k/work/d/x")], ["d/", "d/x", "d~2 -> e"]],
    ["a directory where a link is", [symbolic("k/work/d", "e"), dir("k/work/d")], ["d/", "d~2 -> e"]],
    ["a link where a file is", [file("k/work/d"), symbolic("k/work/d", "e")], ["d", "d~2 -> e"]],
  ])("%s: it gets another name, which is noted", async (_, entries, expected) => {
    const { renamed, untaken } = await unpackAll(...entries);
    const names = [...expected.map((name) => `k/work/${name}`), NOTE];
    expect(look(into)).toEqual(["k/", "k/work/", ...names].toSorted());
    expect([renamed.get("k"), untaken]).toEqual([1, []]);
    expect(readFileSync(join(into, NOTE), "utf8")).toMatch(/^[ad]~[23]\t"[ad]"\n$/);
  });

  test("a hard link to a missing file stays on the machine", async () => {
    const { untaken } = await unpackAll(entry("Link", "k/work/h", { link: "k/work/a" }), file("k/work/b"));
    expect([untaken, look(into)]).toEqual([["k/work/h"], ["k/", "k/work/", "k/work/b"]]);
  });

  test("a hard link to one of two files with the same name stays on the machine: it may mean the other", async () => {
    const link = entry("Link", "k/work/h", { link: "k/work/a" });
    const { untaken } = await unpackAll(file("k/work/a"), file("k/work/a", "2"), link);
    expect(untaken).toEqual(["k/work/h"]);
  });

  test("a link in a renamed directory does not lead outside because of that", async () => {
    const deep = `k/work/${`${"d".repeat(250)}/`.repeat(17)}x`;
    const tar = ["tar", "--format=pax", "-cf", "-"];
    const bytes = await anArchive(tar, async (make) => {
      await make(deep, "mkdir x && ln -s ../../../../../.. x/out && ln -s nowhere x/in");
    });
    const { leftOut } = await unpackBytes(bytes);
    expect(leftOut).toHaveLength(1);
    expect(look(into).filter((path) => path.includes(" -> "))).toEqual([
      expect.stringMatching(/^k\/work\/d{80}~\w{8}\/x\/in -> nowhere$/),
    ]);
  });

  /** Made by a shell that goes down one directory at a time, for which no path is too long. */
  async function anArchive(
    [program = "", ...args]: readonly string[],
    fill: (make: (path: string, script: string) => Promise<void>) => Promise<void>,
  ): Promise<Buffer> {
    await mkdir(box.path("there"), { recursive: true });
    await fill(async (path, script) => {
      const down = path.split("/").slice(0, -1);
      const steps = down.map((name) => `mkdir -p ${name}; cd -P ${name} || exit`).join("\n");
      execFileSync("dash", ["-c", `${steps}\n${script}`], { cwd: box.path("there") });
    });
    return execFileSync(program, [...args, "k"], { cwd: box.path("there"), maxBuffer: 1 << 26 });
  }

  describe.each([
    ["GNU tar", ["tar", "-cf", "-"]],
    ["GNU tar, the Pax format", ["tar", "--format=pax", "-cf", "-"]],
    ["busybox tar", ["busybox", "tar", "-cf", "-"]],
  ])("by %s", (_, tar) => {
    test("names that are no UTF-8 and become one by decoding", async () => {
      const bytes = await anArchive(tar, (make) =>
        make(
          "k/work/x",
          `echo 1 >"$(printf 'a\\377')"; echo 2 >"$(printf 'a\\376')"; mkdir "$(printf 'a\\375')"
           echo 3 >"$(printf 'a\\375/b')"; echo 4 >ordinary`,
        ),
      );
      const { renamed, untaken } = await unpackBytes(bytes);
      const names = look(into).filter((path) => !path.endsWith("/"));
      const texts = names
        .filter((path) => path !== NOTE)
        .map((path) => readFileSync(join(into, path), "utf8"));
      expect(texts.toSorted()).toEqual(["1\n", "2\n", "3\n", "4\n"]);
      expect([renamed.get("k"), untaken]).toEqual([2, []]);
    });

    test("names that decoding makes too long", async () => {
      const bytes = await anArchive(tar, (make) =>
        make("k/work/x", `echo 1 >"$(printf 'a%255s' | tr ' ' '\\377' | head -c 255)"; echo 2 >ordinary`),
      );
      const { renamed, untaken } = await unpackBytes(bytes);
      expect([renamed.get("k"), untaken]).toEqual([1, []]);
      const names = look(join(into, "k/work"));
      expect(names).toEqual([expect.stringMatching(/^a\uFFFD+~\w{8}$/), "ordinary", "sshoal-renamed.txt"]);
      expect(readFileSync(join(into, "k/work", names[0] ?? ""), "utf8")).toBe("1\n");
    });

    test.skipIf(tar[0] === "busybox")("paths that are too deep", async () => {
      const name = "d".repeat(250);
      const deep = `k/work/${`${name}/`.repeat(20)}x`;
      const bytes = await anArchive(tar, async (make) => {
        await make(deep, "echo deep >f");
        await make("k/work/x", "echo 2 >ordinary");
      });
      const { renamed, untaken } = await unpackBytes(bytes);
      expect([renamed.size, untaken]).toEqual([1, []]);
      const found = look(join(into, "k/work")).filter((path) => path.endsWith("/f"));
      expect(found).toHaveLength(1);
      expect(readFileSync(join(into, "k/work", found[0] ?? ""), "utf8")).toBe("deep\n");
    });
  });
});

test("pipes and devices are left out and reported", async () => {
  const kinds = ["FIFO", "CharacterDevice", "BlockDevice"] as const;
  const { leftOut } = await unpackAll(
    ...kinds.map((kind) => entry(kind, `k/work/${kind}`)),
    file("k/work/a"),
  );
  expect(leftOut).toEqual(kinds.map((kind) => `k/work/${kind} (neither file, directory nor link)`));
  expect(look(into)).toEqual(["k/", "k/work/", "k/work/a"]);
});

test("files keep only the owner's bits, and can be read", async () => {
  const modes = { a: 0o6755, b: 0o644, c: 0o600, d: 0o466, e: 0o077 };
  await unpackAll(...Object.entries(modes).map(([name, mode]) => entry("File", `k/${name}`, { mode })));
  const found = Object.keys(modes).map((name) => lstatSync(join(into, "k", name)).mode & 0o7777);
  expect(found).toEqual([0o700, 0o600, 0o600, 0o400, 0o400]);
});

test("the results of each job are counted, without our own files", async () => {
  const { written } = await unpackAll(
    dir("k/work"),
    file("k/work/a", "12"),
    file("k/work/b", "3"),
    file("k/exit", "0"),
    file("l/work/c", "4"),
  );
  expect(Object.fromEntries(written)).toEqual({ k: { files: 2, bytes: 3 }, l: { files: 1, bytes: 1 } });
});

describe("incomplete archives", () => {
  const whole = () =>
    Buffer.concat([
      dir("k/work"),
      file("k/work/a", "x".repeat(1300)),
      file("k/work/empty", ""),
      symbolic("k/work/l", "a"),
      file("l/work/b", "y".repeat(512)),
      END,
    ]);

  test("cut at any block before the end mark, they are rejected", async () => {
    const bytes = whole();
    for (let cut = 0; cut <= bytes.length - 1024; cut += 512) {
      into = box.path(`into-${cut}`);
      await mkdir(into);
      await expectRejected(unpackBytes(bytes.subarray(0, cut)));
    }
  });

  test("cut within a block, they are also rejected", async () => {
    const bytes = whole();
    for (const cut of [1, 100, 511, 513, 1025, 2000, bytes.length - 1025]) {
      into = box.path(`into-${cut}`);
      await mkdir(into);
      await expectRejected(unpackBytes(bytes.subarray(0, cut)));
    }
  });

  test("a flipped bit in a header is noticed", async () => {
    const bytes = whole();
    bytes[512 + 10] = (bytes[512 + 10] as number) ^ 1;
    await expectRejected(unpackBytes(bytes));
  });

  test("random bytes are not an archive", async () => {
    await expectRejected(unpackBytes(Buffer.from("Welcome to the machine\n".repeat(100))));
    await expectRejected(unpackBytes(Buffer.alloc(0)));
  });

  test("the connection is lost in the middle of a file", async () => {
    const stream = new Readable({ read() {} });
    const unpacking = unpack(stream, into, { allows: () => true, keeps: () => false });
    stream.push(whole().subarray(0, 1500));
    stream.destroy();
    await expectRejected(unpacking);
  });

  test("the connection is lost with an error", async () => {
    const stream = new Readable({ read() {} });
    const unpacking = unpack(stream, into, { allows: () => true, keeps: () => false });
    stream.push(whole().subarray(0, 1500));
    stream.destroy(new Error("reset by peer"));
    await expect(unpacking).rejects.toThrow("reset by peer");
    expect(openBelow(box.dir)).toEqual([]);
  });
});

test.each([65_536, 60_001, 5_000_000])(
  "a large file that arrives in pieces of %d bytes",
  async (pieceBytes) => {
    const text = randomBytes(10_000_003).toString("hex");
    const { written } = await unpackBytes(Buffer.concat([file("k/work/large", text), END]), pieceBytes);
    expect(readFileSync(join(into, "k/work/large"), "utf8") === text).toBe(true);
    expect(written.get("k")).toEqual({ files: 1, bytes: text.length });
  },
);

describe.each([
  ["GNU tar", ["tar", "-cf", "-"]],
  ["GNU tar, the Pax format", ["tar", "--format=pax", "-cf", "-"]],
  ["busybox tar", ["busybox", "tar", "-cf", "-"]],
])("an honest archive by %s", (_, [program = "", ...args]) => {
  const make = () =>
    execFileSync(program, [...args, "k", "l"], { cwd: box.path("there"), maxBuffer: 1 << 24 });

  test("everything that a job may leave is unpacked unchanged", async () => {
    const long = `${"deep/".repeat(30)}${"n".repeat(120)}`;
    const texts = {
      "k/work/a b": "1",
      "k/work/new\nline": "2",
      "k/work/é日": "3",
      "k/work/-x": "4",
    };
    for (const [path, text] of Object.entries(texts)) await box.write(`there/${path}`, text);
    await box.write(`there/k/work/${long}`, "deep");
    await box.write("there/l/work/large", Buffer.alloc(3_000_000, "z"));
    await box.write("there/k/work/run", "#!/bin/sh\n");
    await mkdir(box.path("there/k/work/empty"));
    await symlink("../work/run", box.path("there/k/work/empty/link"));
    await link(box.path("there/k/work/run"), box.path("there/k/work/zz-hard"));
    await chmod(box.path("there/k/work/-x"), 0o640);
    await utimes(box.path("there/k/work/-x"), 1_600_000_000, 1_600_000_000);
    await box.write("there/k/exit", "0\n");
    const { leftOut, kept } = await unpackBytes(make());
    expect(leftOut).toEqual([]);
    expect([...kept].map(([name, bytes]) => [name, bytes.toString()])).toEqual([["k/exit", "0\n"]]);
    await rm(box.path("there/k/exit"));
    expect(look(into)).toEqual(look(box.path("there")));
    for (const [path, text] of Object.entries(texts))
      expect(readFileSync(join(into, path), "utf8")).toBe(text);
    expect(readFileSync(join(into, "k/work/zz-hard"), "utf8")).toBe("#!/bin/sh\n");
    expect((await lstat(join(into, "k/work/run"))).mode & 0o777).toBe(0o700);
    const { mode, mtimeMs } = await lstat(join(into, "k/work/-x"));
    expect([mode & 0o777, mtimeMs]).toEqual([0o600, 1_600_000_000_000]);
    expect(readFileSync(join(into, "l/work/large")).equals(Buffer.alloc(3_000_000, "z"))).toBe(true);
  });

  test("the result is the same for any cut of the stream", async () => {
    await box.write("there/k/work/a", "x".repeat(700));
    await box.write("there/l/work/b", "");
    const bytes = make();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3000 }), async (pieceBytes) => {
        into = box.path(`into-${runs++}`);
        await mkdir(into);
        await unpackBytes(bytes, pieceBytes);
        expect(look(into)).toEqual(look(box.path("there")));
        expect(readFileSync(join(into, "k/work/a"), "utf8")).toBe("x".repeat(700));
      }),
      { numRuns: 15 },
    );
  });
});
