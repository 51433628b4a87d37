import { afterEach, beforeEach, expect, test } from "vitest";
import type { Job } from "../../../../src/model/job.js";
import { formatManifest, readManifest } from "../../../../src/remote/spool/manifest.js";
import { anOrder, type LocalMachine, makeLocalMachine, never } from "../a-local-machine.js";

let machine: LocalMachine;

beforeEach(async () => {
  machine = await makeLocalMachine();
});
afterEach(() => machine.close());

/** The jobs that are read back from a manifest with these entries. */
async function reread(...jobs: unknown[]): Promise<readonly Job[]> {
  const entries = jobs.map((job, index) => [`000000${index + 1}-1`, job as Job] as const);
  const { manifest } = anOrder(machine, {});
  await machine.write(`${machine.spool}/manifest`, formatManifest({ ...manifest, jobs: new Map(entries) }));
  const { session, place } = machine;
  return [...((await readManifest(session, place, never))?.jobs.values() ?? [])];
}

test("a job is read back as it was handed over, with its parameters", async () => {
  const job = { id: 1, line: 1, name: "a.sh.1", command: "echo 1", parameters: { lr: "0.1", __proto: "x" } };
  const plain = { id: 2, line: 2, name: "a.sh.2", command: "echo 2" };
  expect(await reread(job, plain)).toEqual([job, plain]);
});

test("parameters that are no texts are not accepted from a machine", async () => {
  const job = { id: 1, line: 1, name: "a.sh.1", command: "echo 1" };
  for (const parameters of [{ lr: 1 }, { lr: { toString: "x" } }, "text", null, 7]) {
    expect(await reread({ ...job, parameters })).toEqual([job]);
  }
});

test("a job's own name and paths are read back; paths that lead outside are not accepted from a machine", async () => {
  const job = { id: 1, line: 1, name: "a.sh.prepare", label: "prepare", command: "echo 1" };
  const own = { ...job, copyForward: ["data", "."], copyBack: [] };
  expect(await reread(own)).toEqual([own]);
  for (const path of ["../x", "a/../../x", "/etc", "a\nb", 7])
    expect(await reread({ ...job, label: 3, copyForward: ["a", path], copyBack: path })).toEqual([
      { ...job, label: undefined },
    ]);
  for (const name of ["../a.sh.x", "-x", ".sshoal", "a/b"])
    expect(await reread({ ...job, name })).toEqual([]);
});

test("jobs of format 1 have their lines as ids", async () => {
  const job = { line: 1, name: "a.sh.1", command: "echo 1" };
  expect(await reread(job)).toEqual([{ ...job, id: 1 }]);
});

test("a job that does not match its key is not accepted from a machine", async () => {
  const job = { id: 1, line: 1, name: "a.sh.1", command: "echo 1" };
  const odd = [{ id: 3 }, { id: -2 }, { id: "2" }, { id: 1e300 }, { command: null }].map((other) => ({
    ...job,
    id: 2,
    ...other,
  }));
  for (const other of odd) expect(await reread(job, other)).toEqual([job]);
  const { manifest } = anOrder(machine, {});
  const jobs = new Map([["x", { ...job, id: 0 }]]);
  await machine.write(`${machine.spool}/manifest`, formatManifest({ ...manifest, jobs }));
  expect((await readManifest(machine.session, machine.place, never))?.jobs.size).toBe(0);
});

test("the manifest of a newer sshoal is refused", async () => {
  await machine.write(`${machine.spool}/manifest`, '{"v":3,"sshoal":"9.1.0","about":{}}\n');
  await expect(readManifest(machine.session, machine.place, never)).rejects.toThrow(
    "the batch on it was made by sshoal 9.1.0, which is newer than this one (0.0.0-test)",
  );
});
