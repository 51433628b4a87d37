// The output of pack() is extracted by the tools that machines have: GNU tar and busybox's.

import { spawnSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type PackEntry, pack } from "../../../../src/remote/tree/pack.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let box: Workspace;

beforeEach(async () => {
  box = await makeWorkspace();
});
afterEach(() => box.remove());

async function archive(entries: readonly PackEntry[]): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of pack(entries)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Path to its description: a link's target, a directory's or a file's mode, a file's content. */
function look(dir: string, below = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(dir, below))) {
    const path = below === "" ? name : `${below}/${name}`;
    const stats = lstatSync(join(dir, path));
    const mode = (stats.mode & 0o777).toString(8);
    if (stats.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(dir, path))}`;
    else if (stats.isDirectory()) Object.assign(found, { [path]: `dir ${mode}` }, look(dir, path));
    else found[path] = `${mode} ${readFileSync(join(dir, path)).toString("base64")}`;
  }
  return found;
}

function expected(entries: readonly PackEntry[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry) => {
      const mode = entry.mode.toString(8);
      if (entry.type === "SymbolicLink") return [entry.path, `-> ${entry.target}`];
      if (entry.type === "Directory") return [entry.path, `dir ${mode}`];
      return [entry.path, `${mode} ${(entry.content as Buffer).toString("base64")}`];
    }),
  );
}

function aFile(path: string, content: Buffer | string, mode = 0o644): PackEntry {
  const bytes = Buffer.from(content);
  return { type: "File", path, mode, size: bytes.length, content: bytes };
}

const letter = fc.constantFrom(..."aZ09._- \n\t'\"\\*?$é日😀\u0301");
const name = fc
  .oneof(
    fc.string({ unit: letter, minLength: 1, maxLength: 12 }),
    fc.integer({ min: 90, max: 110 }).map((length) => "n".repeat(length)),
    fc.integer({ min: 40, max: 60 }).map((length) => "é".repeat(length)),
  )
  .filter((text) => text !== "." && text !== "..");
const content = fc.oneof(
  fc.constantFrom(0, 1, 511, 512, 513, 1024, 1025).map((size) => Buffer.alloc(size, "x")),
  fc.uint8Array({ maxLength: 700 }).map((bytes) => Buffer.from(bytes)),
);
const mode = fc.constantFrom(0o600, 0o644, 0o755, 0o400, 0o777);
const leaf = fc.oneof(
  fc.record({ kind: fc.constant("file" as const), content, mode }),
  fc.record({ kind: fc.constant("link" as const), target: name }),
  fc.record({ kind: fc.constant("empty" as const) }),
);
/** Names in a directory and in one below it, with all parents listed first, as in a scanned tree. */
const tree = fc
  .record({
    dirs: fc.uniqueArray(name, { maxLength: 3 }),
    leaves: fc.array(fc.tuple(name, leaf, fc.nat()), { maxLength: 6 }),
  })
  .map(({ dirs, leaves }): PackEntry[] => {
    const entries = new Map<string, PackEntry>();
    const parents = [""];
    for (const dir of dirs) {
      const path = `${parents.at(-1)}${dir}`;
      entries.set(path, { type: "Directory", path, mode: 0o755 });
      parents.push(`${path}/`);
    }
    for (const [own, what, where] of leaves) {
      const path = `${parents[where % parents.length]}${own}`;
      if (entries.has(path)) continue;
      if (what.kind === "file") entries.set(path, aFile(path, what.content, what.mode));
      else if (what.kind === "empty") entries.set(path, { type: "Directory", path, mode: 0o750 });
      else entries.set(path, { type: "SymbolicLink", path, mode: 0o777, target: what.target });
    }
    return [...entries.values()];
  });

describe.each([["tar"], ["busybox tar"]])("extracted by %s", (words) => {
  let runs = 0;
  function extract(bytes: Buffer): string {
    const into = box.path(`into-${runs++}`);
    mkdirSync(into);
    // As in stage.sh: busybox's tar subtracts the umask from every mode.
    const call = ["-c", 'umask 0; exec "$@"', "sh", ...words.split(" "), "-xpof", "-", "-C", into];
    const { status, stderr } = spawnSync("sh", call, { input: bytes });
    expect(status, stderr.toString()).toBe(0);
    return into;
  }

  test("everything is extracted unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(tree, async (entries) => {
        expect(look(extract(await archive(entries)))).toEqual(expected(entries));
      }),
      { numRuns: 40 },
    );
  });

  test("paths and targets around the lengths where the format changes", async () => {
    const entries: PackEntry[] = [];
    for (const length of [99, 100, 101, 154, 155, 156, 255]) {
      entries.push({ type: "SymbolicLink", path: `l${length}`, mode: 0o777, target: "t".repeat(length) });
      if (length < 250) {
        const dir = `d${"/sub".repeat(30)}`;
        entries.push(
          aFile(`${"f".repeat(length)}`, `${length}`),
          aFile(`${dir}/${"g".repeat(length)}`, "deep"),
        );
      }
    }
    const found = look(extract(await archive(entries)));
    expect(found).toMatchObject(expected(entries));
  });

  test("times are kept to the second, even before 1970", async () => {
    const times = [new Date(0), new Date(1_700_000_000_987), new Date(-86_400_000)];
    const into = extract(await archive(times.map((mtime, n) => ({ ...aFile(`f${n}`, "1"), mtime }))));
    const seconds = times.map((_, n) => Math.floor(lstatSync(join(into, `f${n}`)).mtimeMs / 1000));
    expect(seconds).toEqual([0, 1_700_000_000, -86_400]);
  });
});

test("mode bits beyond the nine usual ones are not sent", async () => {
  const bytes = await archive([aFile("f", "", 0o6755)]);
  expect(bytes.subarray(100, 107).toString()).toMatch(/^0*755 ?$/);
});

test("small entries are joined into few pieces", async () => {
  let pieces = 0;
  for await (const _ of pack(Array.from({ length: 1000 }, (_, n) => aFile(`f${n}`, "1")))) pieces++;
  expect(pieces).toBeLessThanOrEqual(2);
});
