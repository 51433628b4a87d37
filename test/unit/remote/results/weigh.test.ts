import { mkdir, truncate } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { weigh } from "../../../../src/remote/results/weigh.js";
import { type LocalMachine, makeLocalMachine, never } from "../a-local-machine.js";

const KEY = "0000001-1";

let machine: LocalMachine;

beforeEach(async () => {
  machine = await makeLocalMachine();
  await mkdir(machine.path(machine.spool, "jobs", KEY), { recursive: true });
});
afterEach(() => machine.close());

test("only the files to come count, with their size in tar", async () => {
  for (const name of ["work/model/wanted", "work/other", "out"]) {
    await machine.write(`${machine.spool}/jobs/${KEY}/${name}`, "");
    await truncate(machine.path(machine.spool, "jobs", KEY, name), 50e6);
  }
  const jobs = [{ key: KEY, streams: ["out"] as const }];
  const bytes = await weigh(machine.session, {
    place: machine.place,
    jobs,
    copyBack: ["model"],
    signal: never,
  });
  expect(bytes).toBeGreaterThanOrEqual(100e6);
  expect(bytes).toBeLessThan(101e6);
});
