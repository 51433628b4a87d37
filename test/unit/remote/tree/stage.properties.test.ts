// A staged tree, sent whole or made from an earlier one, is the same as if tar itself had made it.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { chmod, lutimes, mkdir, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { stage } from "../../../../src/remote/tree/stage.js";
import { scanTree, type Tree } from "../../../../src/remote/tree/tree.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";
import { type LocalMachine, makeLocalMachine, never } from "../a-local-machine.js";
import { type Home, makeHome, SHELLS } from "../a-spool.js";

type Thing =
  | { readonly kind: "file"; readonly content: string; readonly hole: number; readonly mode: number }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "directory"; readonly mode: number };
type Model = ReadonlyMap<string, Thing>;

const letter = fc.constantFrom(..."aZ0._- \n\t'\"\\*%$é日😀\u0301");
const name = fc
  .oneof(
    fc.string({ unit: letter, minLength: 1, maxLength: 8 }),
    fc.constantFrom("-rf", "--", "a", "b", "n".repeat(101), "é".repeat(60), "%b", "\\0101", " "),
  )
  .filter((text) => text !== "." && text !== "..");
const mode = fc.constantFrom(0o600, 0o644, 0o755, 0o400, 0o777);
const thing: fc.Arbitrary<Thing> = fc.oneof(
  fc.record({
    kind: fc.constant("file" as const),
    content: fc.constantFrom("", "x", "y", "x".repeat(511), "x".repeat(512), "x".repeat(513)),
    hole: fc.constantFrom(0, 0, 0, 4096, 70_001),
    mode,
  }),
  fc.record({ kind: fc.constant("link" as const), target: name }),
  fc.record({ kind: fc.constant("directory" as const), mode: fc.constantFrom(0o755, 0o700, 0o750) }),
);
/** Puts a name in one of a few places, so that edits meet existing entries. */
const put = fc.record({ own: name, where: fc.nat(), thing });
const puts = fc.array(put, { minLength: 1, maxLength: 12 });

function fill(before: Model, additions: readonly { own: string; where: number; thing: Thing }[]): Model {
  const model = new Map(before);
  for (const { own, where, thing: what } of additions) {
    const places = [...model].filter(([, { kind }]) => kind === "directory").map(([path]) => `${path}/`);
    const path = `${["", ...places][where % (places.length + 1)]}${own}`;
    remove(model, path);
    model.set(path, what);
  }
  return model;
}

function remove(model: Map<string, Thing>, path: string): void {
  for (const other of model.keys()) if (other === path || other.startsWith(`${path}/`)) model.delete(other);
}

/** Additions replace entries of the same name; then some entries are removed. */
function edit(
  before: Model,
  { added, removed }: { added: Parameters<typeof fill>[1]; removed: number[] },
): Model {
  const model = new Map(fill(before, added));
  for (const index of removed) {
    const path = [...model.keys()][index % Math.max(1, model.size)];
    if (path !== undefined) remove(model, path);
  }
  return model;
}

/** The same entry has the same time stamp, as an untouched entry has. */
async function build(dir: string, model: Model): Promise<void> {
  const when = (of: unknown) => 1e9 + (Number.parseInt(sha(JSON.stringify(of)).slice(0, 7), 16) % 5e8);
  for (const [path, what] of [...model].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const full = join(dir, path);
    await mkdir(dirname(full), { recursive: true });
    if (what.kind === "directory") await mkdir(full, { recursive: true, mode: 0o700 });
    else if (what.kind === "link") {
      await symlink(what.target, full);
      await lutimes(full, when(what), when(what));
    } else {
      await writeFile(full, what.content);
      if (what.hole > 0) await truncate(full, what.content.length + what.hole);
      await chmod(full, what.mode);
      await utimes(full, when(what), when(what));
    }
  }
  for (const [path, what] of [...model].sort(([a], [b]) => (a < b ? 1 : -1))) {
    if (what.kind !== "directory") continue;
    await chmod(join(dir, path), what.mode);
    await utimes(join(dir, path), when(path), when(path));
  }
}

const sha = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");

/** As `find`, `stat` and `sha256sum` would show it. */
function look(dir: string, hasDirectoryTimes: boolean, below = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const own of readdirSync(join(dir, below))) {
    const path = below === "" ? own : `${below}/${own}`;
    const stats = lstatSync(join(dir, path));
    const about = `${(stats.mode & 0o7777).toString(8)} ${Math.floor(stats.mtimeMs / 1000)}`;
    if (stats.isSymbolicLink()) found[path] = `link ${readlinkSync(join(dir, path))}`;
    else if (stats.isFile()) found[path] = `file ${about} ${sha(readFileSync(join(dir, path)))}`;
    else {
      found[path] = `directory ${hasDirectoryTimes ? about : about.split(" ")[0]}`;
      Object.assign(found, look(dir, hasDirectoryTimes, path));
    }
  }
  return found;
}

describe.each(SHELLS.filter(([shell]) => shell !== "bash"))("with the tools of %s", (_, shell) => {
  let machine: LocalMachine;
  let home: Home;
  let box: Workspace;
  let rounds = 0;

  beforeEach(async () => {
    machine = await makeLocalMachine();
    home = await makeHome(shell);
    box = await makeWorkspace();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await machine.close();
    await home.close();
    await box.remove();
  });

  async function staged(tree: Tree): Promise<{ there: Record<string, string>; sentBytes: number }> {
    let sentBytes = 0;
    const onProgress = (_sent: number, total: number) => {
      sentBytes = total;
    };
    // busybox's tar sets a directory's time before it fills it.
    vi.stubEnv("PATH", home.env.PATH);
    await stage(machine.session, { place: machine.place, tree, signal: never, onProgress });
    vi.unstubAllEnvs();
    const there = look(machine.path(".sshoal/trees", tree.hash), !shell.hasOnlyBusybox);
    return { there, sentBytes };
  }

  function byTar(dir: string): Record<string, string> {
    const into = `${dir}-by-tar`;
    execFileSync("sh", ["-c", 'mkdir "$2" && tar -C "$1" -cf - . | tar -xpf - -C "$2"', "sh", dir, into]);
    return look(into, !shell.hasOnlyBusybox);
  }

  test("a tree, and the tree that results from edits", async () => {
    const edits = fc.record({
      added: fc.array(put, { maxLength: 3 }),
      removed: fc.array(fc.nat(), { maxLength: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(puts, edits, async (additions, change) => {
        const before = fill(new Map(), additions);
        const after = edit(before, change);
        // So many unchanged bytes that sending only the edit pays.
        const stays: Thing = { kind: "file", content: `stays ${rounds}`, hole: 2 << 20, mode: 0o644 };
        const dir = box.path(`${rounds++}`);
        await build(join(dir, "before"), new Map([...before, ["stays here", stays]]));
        await build(join(dir, "after"), new Map([...after, ["stays here", stays]]));
        const first = await scanTree(join(dir, "before"), ["."]);
        const second = await scanTree(join(dir, "after"), ["."]);
        expect((await staged(first)).there).toEqual(byTar(join(dir, "before")));
        const earlier = [{ hash: first.hash, load: async () => first.entries }];
        const { there, sentBytes } = await staged({ ...second, earlier });
        expect(there).toEqual(byTar(join(dir, "after")));
        if (first.hash !== second.hash) expect(sentBytes).toBeLessThan(second.bytes);
        // The earlier tree has not changed.
        expect(look(machine.path(".sshoal/trees", first.hash), false)).toEqual(
          look(join(dir, "before"), false),
        );
        await rm(machine.path(".sshoal/trees"), { recursive: true });
        await rm(dir, { recursive: true });
      }),
      { numRuns: 15 },
    );
  });
});
