import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { OutputFiles } from "../../../../src/run/home/output-files.js";
import { Results } from "../../../../src/run/home/results.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

const JOB = "jobs.sh.7";
const FIRST = "0000007-1";
const SECOND = "0000007-2";

let work: Workspace;
let results: Results;
let outputs: OutputFiles;

beforeEach(async () => {
  work = await makeWorkspace();
  results = new Results(work.dir);
  await results.prepare();
  outputs = new OutputFiles(results, new Set());
});
afterEach(async () => {
  for (const key of [FIRST, SECOND]) await outputs.end(key, null);
  await work.remove();
});

const out = (offset: number, text: string, key = FIRST) =>
  outputs.write({ kind: "output", key, stream: "out", offset, bytes: Buffer.from(text) });
const err = (offset: number, text: string) =>
  outputs.write({ kind: "output", key: FIRST, stream: "err", offset, bytes: Buffer.from(text) });
const read = (ending: string) => work.read(`job_results/${JOB}${ending}`);
const offsetOf = (stream: "out" | "err", key = FIRST) =>
  outputs.positions([key]).find((position) => position.stream === stream)?.offset;

test("both streams exist from the start, and grow as pieces arrive", async () => {
  await outputs.begin(FIRST, JOB);
  expect([await read(".out"), await read(".err")]).toEqual(["", ""]);
  await out(0, "one ");
  await err(0, "wrong");
  await out(4, "two");
  expect([await read(".out"), await read(".err")]).toEqual(["one two", "wrong"]);
  expect([offsetOf("out"), offsetOf("err")]).toEqual([7, 5]);
});

test("a piece that arrives again or too early changes nothing", async () => {
  await outputs.begin(FIRST, JOB);
  await out(0, "one ");
  await out(0, "one ");
  await out(40, "far ahead");
  expect([await read(".out"), offsetOf("out")]).toEqual(["one ", 4]);
});

test("of a partly known piece, the rest is added", async () => {
  await outputs.begin(FIRST, JOB);
  await out(0, "one ");
  expect(await out(2, "e two")).toBe(true);
  expect([await read(".out"), offsetOf("out")]).toEqual(["one two", 7]);
});

test("a piece that does not continue the local file is not written; after a restart the new output is added", async () => {
  await outputs.begin(FIRST, JOB);
  await out(0, "before");
  expect(await out(2, "afterwards")).toBe(false);
  expect(await outputs.restart(FIRST, "out")).toBe(6);
  expect([await read(".out"), offsetOf("out"), outputs.untouched(FIRST)]).toEqual(["before", 0, ["err"]]);
  await out(0, "after");
  await out(3, "erwards");
  expect([await read(".out"), offsetOf("out")]).toEqual(["beforeafterwards", 10]);
});

test("a later client knows where the machine's file begins in the local one", async () => {
  await work.write(`job_results/${JOB}.out`, "beforeafter");
  outputs = new OutputFiles(results, new Set(["7 1"]), { kept: new Map([["7 1 out", 6]]) });
  await outputs.begin(FIRST, JOB);
  expect(offsetOf("out")).toBe(5);
  await out(0, "afterwards");
  expect(await read(".out")).toBe("beforeafterwards");
});

test("of a job that empties its output again and again, no more is fetched than its limit before it has ended", async () => {
  const limited = () =>
    new OutputFiles(results, new Set(["7 1"]), {
      kept: new Map([["7 1 out", 0]]),
      limitOf: () => ({ bytes: 10, text: "10B" }),
    });
  outputs = limited();
  await outputs.begin(FIRST, JOB);
  await out(0, "one two ");
  expect(await outputs.restart(FIRST, "out")).toBe(8);
  await out(0, "three ");
  const mark =
    "\n[sshoal: the job empties its output; what it printed from here on is left out: --max-output 10B]\n";
  const kept = await outputs.restart(FIRST, "out");
  expect(await read(".out")).toBe(`one two three ${mark}`);
  expect([kept, offsetOf("out"), outputs.positions([FIRST], true).length]).toEqual([
    14 + mark.length,
    undefined,
    2,
  ]);
  await out(0, "the end");
  expect(await outputs.restart(FIRST, "out")).toBe(kept + 7);
  expect(await read(".out")).toBe(`one two three ${mark}the end`);
});

test("pieces of jobs that have not begun, or have ended, are dropped", async () => {
  await out(0, "early");
  await outputs.begin(FIRST, JOB);
  await out(0, "in time");
  await outputs.end(FIRST, JOB);
  await out(7, " late");
  expect(await read(".out")).toBe("in time");
  expect(outputs.positions([FIRST])).toEqual([]);
});

test("binary output is unchanged", async () => {
  await outputs.begin(FIRST, JOB);
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
  await outputs.write({ kind: "output", key: FIRST, stream: "out", offset: 0, bytes });
  await outputs.end(FIRST, JOB);
  expect((await readFile(work.path(`job_results/${JOB}.out`))).equals(bytes)).toBe(true);
});

test("streams without local bytes can arrive with the archive", async () => {
  expect(outputs.untouched(FIRST)).toEqual(["out", "err"]);
  await outputs.begin(FIRST, JOB);
  expect(outputs.untouched(FIRST)).toEqual(["out", "err"]);
  await err(0, "x");
  expect(outputs.untouched(FIRST)).toEqual(["out"]);
});

test("an attempt that an earlier client followed continues where that client stopped", async () => {
  await work.write(`job_results/${JOB}.out`, "so far");
  outputs = new OutputFiles(results, new Set(["7 1"]));
  await outputs.begin(FIRST, JOB);
  expect([offsetOf("out"), offsetOf("err")]).toEqual([6, 0]);
  await out(6, " and on");
  expect(await read(".out")).toBe("so far and on");
});

test("output of another attempt moves aside, each time", async () => {
  for (const text of ["first", "second"]) {
    await work.write(`job_results/${JOB}.out`, text);
    outputs = new OutputFiles(results, new Set(["7 1"]));
    await outputs.begin(SECOND, JOB);
    await outputs.end(SECOND, null);
  }
  expect([await read(".out.old-1"), await read(".out.old-2"), await read(".out")]).toEqual([
    "first",
    "second",
    "",
  ]);
});

test("no output grows if a result is in place", async () => {
  await work.write(`job_results/${JOB}/x`, "a result");
  await work.write(`job_results/${JOB}.out`, "its output");
  await outputs.begin(FIRST, JOB);
  await out(0, "other");
  expect(await read(".out")).toBe("its output");
  expect(existsSync(work.path(`job_results/${JOB}.out.old-1`))).toBe(false);
});

test("two attempts of one job do not write into one file", async () => {
  await outputs.begin(FIRST, JOB);
  await outputs.begin(SECOND, JOB);
  await out(0, "first");
  await out(0, "SECOND", SECOND);
  expect(await read(".out")).toBe("first");
  expect(outputs.untouched(SECOND)).toEqual(["out", "err"]);
});

test("if another attempt counts, the grown output moves aside for it", async () => {
  await outputs.begin(FIRST, JOB);
  await out(0, "first");
  await outputs.begin(SECOND, JOB);
  await outputs.end(SECOND, JOB);
  expect(await read(".out.old-1")).toBe("first");
  expect(existsSync(work.path(`job_results/${JOB}.out`))).toBe(false);
});

test("ending twice is harmless", async () => {
  await outputs.begin(FIRST, JOB);
  await out(0, "all of it");
  await outputs.end(FIRST, null);
  await outputs.end(FIRST, null);
  expect(await read(".out")).toBe("all of it");
});
