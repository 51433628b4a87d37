import { existsSync, statSync } from "node:fs";
import { chmod, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ExitCode, UserError } from "../../../../src/errors.js";
import { ResultPruner } from "../../../../src/run/home/prune-results.js";
import { Results } from "../../../../src/run/home/results.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

const JOB = "jobs.sh.1";

let work: Workspace;
let results: Results;

beforeEach(async () => {
  work = await makeWorkspace();
  results = new Results(work.dir);
  await results.prepare();
});
afterEach(() => work.remove());

/** An archive with these files of one job. */
async function arrived(files: Readonly<Record<string, string>>): Promise<string> {
  const { dir } = await results.makeIncoming("b");
  const key = join(dir, "0000001-1");
  await mkdir(key);
  for (const [path, text] of Object.entries(files))
    await work.write(join(key.slice(work.dir.length + 1), path), text);
  return key;
}

const read = (path: string) => work.read(`job_results/${path}`);
const visible = async () =>
  (await readdir(work.path("job_results"))).filter((name) => name !== ".sshoal").toSorted();

describe("putting results into place", () => {
  test("streams and the directory, under the job's name", async () => {
    expect(results.has(JOB)).toBe(false);
    results.place(JOB, await arrived({ exit: "0", out: "said", err: "wrong", "work/d/x": "1" }), false);
    expect(results.has(JOB)).toBe(true);
    expect(await visible()).toEqual([JOB, `${JOB}.err`, `${JOB}.out`]);
    expect([await read(`${JOB}.out`), await read(`${JOB}.err`), await read(`${JOB}/d/x`)]).toEqual([
      "said",
      "wrong",
      "1",
    ]);
  });

  test("a job that left nothing still has its directory and both streams", async () => {
    results.place(JOB, await arrived({ exit: "0" }), false);
    expect([
      await readdir(work.path("job_results", JOB)),
      await read(`${JOB}.out`),
      await read(`${JOB}.err`),
    ]).toEqual([[], "", ""]);
  });

  test("streams that have already grown locally do not change", async () => {
    await work.write(`job_results/${JOB}.out`, "grown here");
    results.place(JOB, await arrived({ err: "from the archive" }), false);
    expect([await read(`${JOB}.out`), await read(`${JOB}.err`)]).toEqual(["grown here", "from the archive"]);
  });

  test("no file of an existing result is ever overwritten", async () => {
    results.place(JOB, await arrived({ out: "1", "work/x": "1" }), false);
    const again = await arrived({ "work/x": "2" });
    expect(() => results.place(JOB, again, false)).toThrow();
    expect([await read(`${JOB}.out`), await read(`${JOB}/x`)]).toEqual(["1", "1"]);
  });

  test("a result that does not count gets another name, however often it arrives, with its streams", async () => {
    results.place(JOB, await arrived({ out: "1", "work/x": "1" }), false);
    for (const n of ["2", "3"]) results.place(JOB, await arrived({ out: n, "work/x": n }), true);
    for (const [name, n] of [
      [JOB, "1"],
      [`${JOB}.again-2`, "2"],
      [`${JOB}.again-3`, "3"],
    ]) {
      expect([await read(`${name}.out`), await read(`${name}/x`)]).toEqual([n, n]);
    }
  });
});

describe("making room for another attempt", () => {
  test("everything of the last one moves aside under one number, and nothing is lost", async () => {
    for (const n of ["1", "2"]) {
      results.place(JOB, await arrived({ out: n, err: n, "work/x": n }), false);
      results.moveAside(JOB);
      expect(results.has(JOB)).toBe(false);
    }
    for (const n of ["1", "2"]) {
      const name = `${JOB}.old-${n}`;
      expect([await read(`${name}.out`), await read(`${name}.err`), await read(`${name}/x`)]).toEqual([
        n,
        n,
        n,
      ]);
    }
  });

  test("a number that only a stream uses is not used again", async () => {
    await work.write(`job_results/${JOB}.old-1.out`, "another's");
    results.place(JOB, await arrived({ out: "mine" }), false);
    results.moveAside(JOB);
    expect([await read(`${JOB}.old-1.out`), await read(`${JOB}.old-2.out`)]).toEqual(["another's", "mine"]);
  });

  test("without results nothing moves", async () => {
    results.moveAside(JOB);
    expect(await visible()).toEqual([]);
  });

  test("other jobs with a similar name stay", async () => {
    results.place(`${JOB}0`, await arrived({ out: "ten" }), false);
    results.place(JOB, await arrived({ out: "one" }), false);
    results.moveAside(JOB);
    expect(results.has(`${JOB}0`)).toBe(true);
  });
});

describe("our own directory", () => {
  test("is private, and separate from the results", () => {
    expect(statSync(work.path("job_results/.sshoal")).mode & 0o777).toBe(0o700);
  });

  test("each incoming archive has its own directory, which can be removed alone", async () => {
    const [first, second] = await Promise.all([results.makeIncoming("b"), results.makeIncoming("b")]);
    expect(first.dir).not.toBe(second.dir);
    await first.remove();
    await first.remove();
    expect([existsSync(first.dir), existsSync(second.dir)]).toEqual([false, true]);
  });

  test("a killed client's incoming archives are removed, those of other batches stay", async () => {
    const [mine, other] = await Promise.all([results.makeIncoming("b"), results.makeIncoming("c")]);
    results.removeIncoming("b");
    expect([existsSync(mine.dir), existsSync(other.dir)]).toEqual([false, true]);
  });

  test("preparing twice is harmless", async () => {
    results.place(JOB, await arrived({ out: "1" }), false);
    await results.prepare();
    expect(results.has(JOB)).toBe(true);
  });
});

test("a working directory that is not writable is an error that the user can fix", async () => {
  const isRoot = process.getuid?.() === 0;
  const closed = await makeWorkspace();
  await chmod(closed.dir, 0o555);
  if (isRoot) process.seteuid?.(65534);
  try {
    const error = await new Results(closed.dir).prepare().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).exitCode).toBe(ExitCode.BadInput);
    expect((error as UserError).message).toContain(`${closed.dir}/job_results cannot be written`);
  } finally {
    if (isRoot) process.seteuid?.(0);
    await chmod(closed.dir, 0o755);
    await closed.remove();
  }
});

describe("results in another directory", () => {
  test.each([
    ["below job_results/", () => "q/17"],
    ["at an absolute path", () => work.path("p/job_results/q.17")],
  ])("%s are placed, moved aside and numbered there", async (_, nameOf) => {
    const name = nameOf();
    results.place(name, await arrived({ out: "first", "work/x": "1" }), false);
    await results.sync([name]);
    expect(results.has(name)).toBe(true);
    expect(statSync(join(results.pathOf(name), "..")).mode & 0o777).toBe(0o700);
    expect(results.moveAside(name)).toBe(`${name}.old-1`);
    expect(results.has(name)).toBe(false);
    results.place(name, await arrived({ out: "second" }), false);
    expect(results.moveAside(name)).toBe(`${name}.old-2`);
    expect(new Results(work.dir).moveAside(name)).toBeNull();
    expect((await readdir(join(results.pathOf(name), ".."))).toSorted()).toEqual(
      [1, 2].flatMap((number) =>
        ["", ".err", ".out"].map((end) => `${name.split("/").at(-1)}.old-${number}${end}`),
      ),
    );
    const pruner = new ResultPruner(results, "b", 1);
    await pruner.prune(name, () => false);
    expect([results.has(`${name}.old-1`), results.has(`${name}.old-2`)]).toEqual([false, true]);
    expect(pruner.removed.count).toBe(1);
  });
});
