import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RemoteError } from "../../../../src/remote/engine/remote-error.js";
import { FileChanged } from "../../../../src/remote/tree/cargo.js";
import { type StageOptions, stage } from "../../../../src/remote/tree/stage.js";
import { scanTree, type Tree } from "../../../../src/remote/tree/tree.js";
import type { Session } from "../../../../src/transport/session.js";
import { pidsWithHome } from "../../../rig/processes.js";
import { until } from "../../../rig/until.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";
import { type LocalMachine, makeLocalMachine, never, pathWithout } from "../a-local-machine.js";

let machine: LocalMachine;
let work: Workspace;

beforeEach(async () => {
  machine = await makeLocalMachine();
  work = await makeWorkspace({ "a.txt": "1", "d/run.sh": "#!/bin/sh\n" });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await machine.close();
  await work.remove();
});

async function options(facts: Partial<StageOptions> = {}): Promise<StageOptions> {
  const tree = facts.tree ?? (await scanTree(work.dir, ["."]));
  return { place: machine.place, tree, signal: never, onProgress: () => {}, ...facts };
}

async function errorOf(staging: Promise<unknown>): Promise<RemoteError> {
  const error = await staging.then(
    () => new Error("it was staged"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RemoteError);
  return error as RemoteError;
}

/** The entries of the directory for trees, including incoming ones. */
const trees = () => readdirSync(machine.path(".sshoal/trees"));

test("sent once, then present", async () => {
  const order = await options();
  expect(await stage(machine.session, order)).toBe(true);
  expect(trees()).toEqual([order.tree.hash]);
  expect(await machine.read(`.sshoal/trees/${order.tree.hash}/d/run.sh`)).toBe("#!/bin/sh\n");
  const again = await scanTree(work.dir, ["."]);
  expect(await stage(machine.session, await options({ tree: again }))).toBe(false);
  expect(trees()).toEqual([order.tree.hash]);
});

test("nothing is created on the machine before the go-ahead, even if it never comes", async () => {
  const order = await options();
  let goAhead = () => {};
  const said = new Promise<void>((resolve) => {
    goAhead = resolve;
  });
  let asked = 0;
  const session: Session = {
    ...machine.session,
    async exec(script) {
      const running = await machine.session.exec(script);
      running.stdout.on("data", () => asked++);
      return running;
    },
  };
  const waiting = stage(session, { ...order, goAhead: said });
  await until("it has answered", () => asked > 0);
  expect(existsSync(machine.path(".sshoal"))).toBe(false);
  goAhead();
  expect(await waiting).toBe(true);
  expect(trees()).toEqual([order.tree.hash]);
});

test("other content is put beside it", async () => {
  await stage(machine.session, await options());
  await work.write("a.txt", "2");
  expect(await stage(machine.session, await options())).toBe(true);
  expect(trees()).toHaveLength(2);
});

test("a directory keeps its time, even if another name sorts between it and its content", async () => {
  await work.write("d x/file", "2");
  for (const dir of ["d", "d x"]) await utimes(work.path(dir), 1e9, 1e9);
  const order = await options();
  await stage(machine.session, order);
  const timeOf = (dir: string) => statSync(machine.path(".sshoal/trees", order.tree.hash, dir)).mtimeMs;
  expect([timeOf("d"), timeOf("d x")]).toEqual([1e12, 1e12]);
});

describe("made from an earlier tree", () => {
  let before: Tree;

  beforeEach(async () => {
    await work.write("data", Buffer.alloc(100_000));
    await work.write("d/old\nname", "3");
    before = await scanTree(work.dir, ["."]);
    await stage(machine.session, await options({ tree: before }));
    await work.write("a.txt", "edited");
    await rm(work.path("d/old\nname"));
  });

  /** The current working directory on the machine, and how many file bytes were sent for it. */
  async function stageNow(): Promise<{ dir: string; sentBytes: number }> {
    const earlier = [{ hash: before.hash, load: async () => before.entries }];
    const tree = { ...(await scanTree(work.dir, ["."])), earlier };
    let sentBytes = 0;
    const onProgress = (_sent: number, total: number) => {
      sentBytes = total;
    };
    expect(await stage(machine.session, await options({ tree, onProgress }))).toBe(true);
    return { dir: machine.path(".sshoal/trees", tree.hash), sentBytes };
  }

  test("only an edit is sent, and the earlier tree does not change", async () => {
    const { dir, sentBytes } = await stageNow();
    expect(sentBytes).toBe("edited".length);
    expect(readdirSync(dir, { recursive: true }).toSorted()).toEqual(["a.txt", "d", "d/run.sh", "data"]);
    expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("edited");
    const earlier = machine.path(".sshoal/trees", before.hash);
    expect(readFileSync(join(earlier, "a.txt"), "utf8")).toBe("1");
    expect(existsSync(join(earlier, "d/old\nname"))).toBe(true);
    expect(statSync(join(dir, "data")).ino).toBe(statSync(join(earlier, "data")).ino);
  });

  test("its own time stamp is that of its first use", async () => {
    await utimes(machine.path(".sshoal/trees", before.hash), 1, 1);
    const { dir } = await stageNow();
    expect(Date.now() - statSync(dir).mtimeMs).toBeLessThan(600_000);
  });

  test("if the earlier tree has changed, everything is sent", async () => {
    await rm(machine.path(".sshoal/trees", before.hash, "data"));
    const { dir, sentBytes } = await stageNow();
    expect(sentBytes).toBeGreaterThan(100_000);
    expect(readdirSync(dir, { recursive: true }).toSorted()).toEqual(["a.txt", "d", "d/run.sh", "data"]);
  });

  test("without hard links, everything is sent", async () => {
    await machine.write("bin/cp", "#!/bin/sh\necho no such links >&2\nexit 1\n");
    vi.stubEnv("PATH", `${machine.path("bin")}:${process.env.PATH}`);
    const { dir, sentBytes } = await stageNow();
    expect(sentBytes).toBeGreaterThan(100_000);
    expect(readdirSync(dir, { recursive: true }).toSorted()).toEqual(["a.txt", "d", "d/run.sh", "data"]);
  });

  test("if it is gone, or little is the same, everything is sent", async () => {
    await work.write("data", Buffer.alloc(100_000, 1));
    expect((await stageNow()).sentBytes).toBeGreaterThan(100_000);
    await work.write("data", Buffer.alloc(100_000, 2));
    rmSync(machine.path(".sshoal/trees"), { recursive: true });
    expect((await stageNow()).sentBytes).toBeGreaterThan(100_000);
  });

  test("a stream that ends early makes no tree from it, wherever it is cut", async () => {
    const earlier = [{ hash: before.hash, load: async () => before.entries }];
    const order = await options({ tree: { ...(await scanTree(work.dir, ["."])), earlier } });
    for (const cut of [0, 20, 70, 90, 100, 512, 1024, 1536, 2048]) {
      await errorOf(stage(cutAfter(machine.session, cut), order));
      expect(existsSync(machine.path(".sshoal/trees", order.tree.hash))).toBe(false);
    }
  });
});

test("progress is reported up to the last byte", async () => {
  await work.write("large", Buffer.alloc(3_000_000));
  const told: number[] = [];
  const order = await options({ onProgress: (bytes) => told.push(bytes) });
  await stage(machine.session, order);
  expect(told.at(-1)).toBe(order.tree.bytes);
  expect(told).toEqual(told.toSorted((a, b) => a - b));
});

test("two clients that stage the same tree at once both succeed", async () => {
  const order = await options();
  await Promise.all([stage(machine.session, order), stage(machine.session, order)]);
  expect(trees()).toEqual([order.tree.hash]);
});

test("a file that changed after the scan is named, and no part of the tree is put in place", async () => {
  const order = await options();
  await writeFile(work.path("a.txt"), "2");
  const error = await stage(machine.session, order).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(FileChanged);
  expect((error as FileChanged).path).toBe("a.txt");
  await until("nothing runs there", () => pidsWithHome(machine.dir).length === 0);
  expect(existsSync(machine.path(".sshoal/trees")) ? trees() : []).toEqual([]);
});

test("a stream that ends early makes no tree, wherever it is cut", async () => {
  await work.write("b.txt", "x".repeat(600));
  const order = await options();
  const whole = await sentBytes(order);
  // The order before the archive is not a whole block.
  for (let cut = 0; cut < whole - 1024; cut += 256) {
    await errorOf(stage(cutAfter(machine.session, cut), order));
    expect(existsSync(machine.path(".sshoal/trees", order.tree.hash))).toBe(false);
  }
});

/** How many bytes a whole staging sends. */
async function sentBytes(order: StageOptions): Promise<number> {
  let bytes = 0;
  const counting: Session = {
    ...machine.session,
    async exec(script) {
      const running = await machine.session.exec(script);
      const stdin = new PassThrough().on("data", (chunk: Buffer) => (bytes += chunk.length));
      stdin.pipe(running.stdin);
      return { ...running, stdin };
    },
  };
  await stage(counting, order);
  rmSync(machine.path(".sshoal/trees"), { recursive: true });
  return bytes;
}

/** A connection that is lost after this many bytes: on the machine the stream just ends. */
function cutAfter(session: Session, bytes: number): Session {
  return {
    ...session,
    async exec(script) {
      const running = await session.exec(script);
      let left = bytes;
      const stdin = new PassThrough();
      stdin.on("data", (chunk: Buffer) => {
        if (left >= 0) running.stdin.write(chunk.subarray(0, left));
        left -= chunk.length;
        if (left < 0) running.stdin.end();
      });
      if (left === 0) running.stdin.end();
      return { ...running, stdin };
    },
  };
}

test("if tar is missing on the machine, the error names it", async () => {
  vi.stubEnv("PATH", pathWithout(machine, "tar"));
  expect((await errorOf(stage(machine.session, await options()))).message).toBe(
    "copying the working directory failed: there is no tar on the machine",
  );
});

test("a directory that is not writable: the hint suggests another one", async () => {
  const place = { ...machine.place, scratch: "/sys/kernel" }; // closed even to root
  const error = await errorOf(stage(machine.session, await options({ place })));
  expect(error.message).toMatch(/^copying the working directory failed: mkdir: /);
  expect(error.hint).toContain("scratch:");
});

test("tools on the machine use the C locale, whatever the user's locale is", async () => {
  await machine.write(
    "bin/mkdir",
    '#!/bin/sh\n[ "$LC_ALL" = C ] && echo Permission denied >&2 || echo Non >&2\nexit 1\n',
  );
  vi.stubEnv("PATH", `${machine.path("bin")}:${process.env.PATH}`);
  for (const locale of [undefined, "fr_FR.UTF-8"]) {
    vi.stubEnv("LC_ALL", locale);
    expect((await errorOf(stage(machine.session, await options()))).hint).toContain("scratch:");
  }
});

test("an abort before or during sending is passed on", async () => {
  const reason = new Error("stopped");
  await expect(stage(machine.session, await options({ signal: AbortSignal.abort(reason) }))).rejects.toBe(
    reason,
  );
  await work.write("large", Buffer.alloc(20_000_000));
  const aborting = new AbortController();
  const order = await options({ signal: aborting.signal, onProgress: () => aborting.abort(reason) });
  await expect(stage(machine.session, order)).rejects.toBe(reason);
  await until(
    "nothing is left on the machine",
    () => !existsSync(machine.path(".sshoal/trees")) || trees().length === 0,
  );
});

test("the tree is private", async () => {
  const order = await options();
  await stage(machine.session, order);
  const { mode } = statSync(machine.path(".sshoal"));
  expect(mode & 0o077).toBe(0);
  expect(await readFile(machine.path(".sshoal/trees", order.tree.hash, "a.txt"), "utf8")).toBe("1");
});
