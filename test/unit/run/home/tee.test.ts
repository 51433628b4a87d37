import { appendFile, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { OutputFiles } from "../../../../src/run/home/output-files.js";
import { Results } from "../../../../src/run/home/results.js";
import { Tee } from "../../../../src/run/home/tee.js";
import { until } from "../../../rig/until.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

const JOB = "jobs.sh.7";
const FIRST = "0000007-1";
const SECOND = "0000007-2";

let work: Workspace;
let results: Results;
let told: string[] = [];
let tee: Tee;

beforeEach(async () => {
  work = await makeWorkspace();
  results = new Results(work.dir);
  await results.prepare();
  told = [];
  tee = new Tee(async ({ job: line, attempt, stream, text }) => {
    told.push(`${line}-${attempt} ${stream} ${text}`);
  });
});
afterEach(() => work.remove());

function filesAfter(...begun: string[]): OutputFiles {
  return new OutputFiles(results, new Set(begun), { tee });
}

const write = (outputs: OutputFiles, offset: number, text: string, key = FIRST) =>
  outputs.write({ kind: "output", key, stream: "out", offset, bytes: Buffer.from(text) });

/** An archive with this output, which is put into place. */
async function arrive(outputs: OutputFiles, out: string | null, key = FIRST): Promise<void> {
  const incoming = work.path("incoming");
  await work.write("incoming/exit", "0\n");
  if (out !== null) await work.write("incoming/out", out);
  await outputs.end(key, JOB);
  results.place(JOB, incoming, false);
  await outputs.tellRest(key, true);
}

test("lines are printed when they are complete, the last one at the end", async () => {
  const outputs = filesAfter();
  await outputs.begin(FIRST, JOB);
  await write(outputs, 0, "one\ntw");
  await until("a line is told", () => told.length === 1);
  await write(outputs, 6, "o\nthree");
  await until("another is told", () => told.length === 2);
  expect(told).toEqual(["7-1 out one\n", "7-1 out two\n"]);
  await arrive(outputs, null);
  expect(told.slice(2)).toEqual(["7-1 out three"]);
});

test("output that arrives only with the results is printed once", async () => {
  const outputs = filesAfter();
  await arrive(outputs, "one\ntwo");
  expect(told).toEqual(["7-1 out one\n", "7-1 out two"]);
  await outputs.tellRest(FIRST, true);
  expect(told).toHaveLength(2);
});

test("a piece that arrives again is not printed again", async () => {
  const outputs = filesAfter();
  await outputs.begin(FIRST, JOB);
  await write(outputs, 0, "one\n");
  await write(outputs, 0, "one\n");
  await write(outputs, 4, "two\n");
  await arrive(outputs, null);
  expect(told.join("")).toBe("7-1 out one\n7-1 out two\n");
});

test("a later client prints what an earlier one had not fetched, from the start of its line", async () => {
  await writeFile(results.streamPath(JOB, "out"), "told before\nhel");
  const outputs = filesAfter("7 1");
  await outputs.begin(FIRST, JOB);
  await write(outputs, 15, "lo\n");
  await arrive(outputs, null);
  expect(told).toEqual(["7-1 out hello\n"]);
});

test("also if the rest arrives with the results", async () => {
  await writeFile(results.streamPath(JOB, "out"), "told before\nhel");
  await arrive(filesAfter("7 1"), "told before\nhello\n");
  expect(told).toEqual(["7-1 out hello\n"]);
});

test("output that is put into place at a second try, after a full disk, is still printed", async () => {
  const outputs = filesAfter();
  await outputs.end(FIRST, JOB);
  await appendFile(results.streamPath(JOB, "out"), "one\n");
  await arrive(outputs, "one\n");
  expect(told).toEqual(["7-1 out one\n"]);
});

test("another attempt that is collected first is printed separately, without lines of the other", async () => {
  const outputs = filesAfter();
  await outputs.begin(FIRST, JOB);
  await write(outputs, 0, "first\nand mo");
  await arrive(outputs, "second\n", SECOND);
  expect(told).toEqual(["7-1 out first\n", "7-1 out and mo", "7-2 out second\n"]);
});

test("a stalled reader is awaited until the run is left", async () => {
  let isWaiting = false;
  tee = new Tee((_, signal) => {
    isWaiting = true;
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
  });
  const outputs = filesAfter();
  await outputs.begin(FIRST, JOB);
  await write(outputs, 0, "one\n");
  await until("it is shown", () => isWaiting);
  // Pieces are accepted in the meantime: the machine does not wait for the reader.
  for (let n = 0; n < 100; n++) await write(outputs, 4 + 4 * n, "two\n");
  const arriving = arrive(outputs, null);
  tee.stop();
  await arriving;
});
