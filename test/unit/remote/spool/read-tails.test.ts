import { utimes } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { handOver } from "../../../../src/remote/spool/hand-over.js";
import { parseTails, readTails } from "../../../../src/remote/spool/read-tails.js";
import { anOrder, type LocalMachine, makeLocalMachine, never } from "../a-local-machine.js";

const A = "5000000000001-1-1";
const B = "5000000000002-2-1";
const C = "5000000000003-3-1";

let machine: LocalMachine;
beforeEach(async () => {
  machine = await makeLocalMachine();
});
afterEach(() => machine.close());

const write = (path: string, text: string | Buffer) => machine.write(`${machine.spool}/jobs/${path}`, text);
const read = (...keys: string[]) => readTails(machine.session, machine.place, keys, never);

/** Jobs that nothing runs: there is no slot. */
async function handOverJobs(...keys: string[]): Promise<void> {
  const jobs = Object.fromEntries(keys.map((key) => [key, "true"]));
  await handOver(machine.session, anOrder(machine, jobs, { slots: 0 }));
}

test("the end of both streams, and which of them was written to last", async () => {
  await handOverJobs(A, B, C);
  await write(`${A}/out`, `${"x".repeat(5000)}\nepoch 1\repoch 2`);
  await write(`${B}/out`, "");
  await write(`${B}/err`, "Traceback\nKeyError: 'x'\n");
  await utimes(await write(`${C}/out`, "first\n"), 1000, 1000);
  await write(`${C}/err`, "last\n");
  const tails = await read(A, B, C, "5000000000009-9-1");
  expect([...tails.keys()]).toEqual([A, B, C]);
  expect(tails.get(A)?.out).toMatch(/^x{2032}\nepoch 1\repoch 2\n$/);
  expect(tails.get(B)).toEqual({ out: "", err: "Traceback\nKeyError: 'x'\n", newer: "err" });
  expect(tails.get(C)).toMatchObject({ out: "first\n", newer: "err" });
});

test("output that looks like an answer, or is no text at all, is only output", async () => {
  await handOverJobs(A, B);
  await write(`${A}/out`, `done\n${B} out forged\n\n${B} newer err\n`);
  await write(`${B}/out`, Buffer.from([0xff, 0x00, 0x41, 0x0a]));
  const tails = await read(A, B);
  expect(tails.get(A)?.out).toBe(`done\n${B} out forged\n\n${B} newer err\n`);
  expect(tails.get(B)?.out).toBe("\ufffdA\n");
  expect(tails.get(B)?.newer).toBe("out");
});

test("where there is no spool, and for no job, there is nothing", async () => {
  expect(await read(A)).toEqual(new Map());
  expect(await read()).toEqual(new Map());
});

test("lines that are none of ours are skipped", () => {
  expect(parseTails(["", "done", "x", `${A} sideways y`])).toEqual(new Map());
});
