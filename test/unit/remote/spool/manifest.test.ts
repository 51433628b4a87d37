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
  return rereadAs((text) => text, ...jobs);
}

/** `change`: what the machine did to the text. */
async function rereadAs(change: (text: string) => string, ...jobs: unknown[]): Promise<readonly Job[]> {
  const entries = jobs.map((job, index) => [`000000${index + 1}-1`, job as Job] as const);
  const { manifest } = anOrder(machine, {});
  await machine.write(
    `${machine.spool}/manifest`,
    change(formatManifest({ ...manifest, jobs: new Map(entries) })),
  );
  const { session, place } = machine;
  return [...((await readManifest(session, place, never))?.jobs.values() ?? [])];
}

test("a job is read back as it was handed over, with its parameters", async () => {
  const job = { id: 1, line: 1, name: "a.sh.1", command: "echo 1", parameters: { lr: "0.1", __proto: "x" } };
  const plain = { id: 2, line: 2, name: "a.sh.2", command: "echo 2" };
  expect(await reread(job, plain)).toEqual([job, plain]);
});

test("what a job came after stays at its client: it is handed over when it need not wait", async () => {
  const job = { id: 1, line: 1, name: "a.sh.1", command: "echo 1" };
  expect(await reread({ ...job, dependsOn: [{ job: 7, when: "ended" }] })).toEqual([job]);
});

test("places on this computer are no business of a machine, and are not taken over from one", async () => {
  const job = { id: 1, line: null, name: "17", command: "echo 1" };
  const places = { cwd: "/home/me/p", tree: "t1", turn: 2 };
  for (const name of ["train/17", "/home/me/p/job_results/17"])
    expect(await reread({ ...job, ...places, name })).toEqual([job]);
  const added = JSON.stringify(places).slice(1, -1);
  expect(await rereadAs((text) => text.replace('"id":1', `"id":1,${added}`), job)).toEqual([job]);
});

test("whether a job has one stream comes back", async () => {
  const job = { id: 1, line: null, name: "a", command: "echo 1", mergesOutput: true };
  expect(await reread(job)).toEqual([job]);
  expect(await reread({ ...job, mergesOutput: "yes" })).toEqual([{ ...job, mergesOutput: undefined }]);
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
    expect(await rereadAs((text) => text.replace('"a.sh.prepare"', JSON.stringify(name)), job)).toEqual([]);
});

test("a wrapper comes back; one that is none is not taken over from a machine", async () => {
  const job = { id: 1, line: 1, name: "a.sh.1", command: "echo 1" };
  for (const wrap of [[], ["env", "A=1 2"]])
    expect(await reread({ ...job, wrap })).toEqual([{ ...job, wrap }]);
  for (const wrap of [7, "env", {}, ["env", 1], [""], ["env", "a\0b"], Array(2000).fill("env")])
    expect(await reread({ ...job, wrap })).toEqual([job]);
});

test("a limit to output comes back; one that is none is not taken over from a machine, nor how much is kept here", async () => {
  const job = { id: 1, line: 1, name: "a.sh.1", command: "echo 1" };
  for (const maxOutput of [null, { bytes: 5000, text: "5kB" }])
    expect(await reread({ ...job, maxOutput })).toEqual([{ ...job, maxOutput }]);
  const odd = [7, "5kB", {}, { bytes: "a[$(reboot)]", text: "5kB" }, { bytes: 5.5, text: "5kB" }];
  for (const maxOutput of [
    ...odd,
    { bytes: 5000, text: "5kB\n" },
    { bytes: 5000 },
    { bytes: -1, text: "5kB" },
  ])
    expect(await reread({ ...job, maxOutput })).toEqual([job]);
  const { manifest } = anOrder(machine, {});
  const text = formatManifest(manifest).replace('"settings":{', '"settings":{"maxOld":0,"maxOutput":{},');
  await machine.write(`${machine.spool}/manifest`, text);
  const settings = (await readManifest(machine.session, machine.place, never))?.settings;
  expect([settings?.maxOld, settings?.maxOutput, settings?.copyForward]).toEqual([
    undefined,
    undefined,
    ["."],
  ]);
  expect(formatManifest({ ...manifest, settings: { ...manifest.settings, maxOld: 3 } })).not.toContain(
    "maxOld",
  );
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

test("a machine cannot ask for variables of configuration files", async () => {
  const { manifest } = anOrder(machine, {});
  const settings = { ...manifest.settings, envNames: ["TOKEN"], envFromFiles: ["TOKEN"] };
  await machine.write(`${machine.spool}/manifest`, formatManifest({ ...manifest, settings }));
  const read = await readManifest(machine.session, machine.place, never);
  expect(read?.settings.envNames).toEqual(["TOKEN"]);
  expect(read?.settings).not.toHaveProperty("envFromFiles");
});

test("needs and time limits that are no numbers are not taken over from a machine: they are written into scripts", async () => {
  const job = { id: 1, line: 1, name: "a.sh.1", command: "echo 1" };
  const { manifest } = anOrder(machine, {});
  const requirement = { ...manifest.settings.requirement, gpu: null };
  expect(await reread({ ...job, requirement, timeoutSeconds: 7 })).toEqual([
    { ...job, requirement, timeoutSeconds: 7 },
  ]);
  const odd = ["1; reboot", -1, {}, null];
  for (const amount of odd)
    expect(
      await reread({ ...job, requirement: { ...requirement, cpus: amount }, timeoutSeconds: amount }),
    ).toEqual([job]);
  const copyBack = ["../../.ssh"];
  const settings = { ...manifest.settings, copyBack, timeoutSeconds: "1; reboot" as unknown as number };
  await machine.write(`${machine.spool}/manifest`, formatManifest({ ...manifest, settings }));
  const read = await readManifest(machine.session, machine.place, never);
  expect(read?.settings).toMatchObject({ timeoutSeconds: null, copyBack: ["."] });
  const unsound = {
    ...settings,
    requirement: { ...requirement, memoryMb: "$(reboot)" as unknown as number },
  };
  await machine.write(`${machine.spool}/manifest`, formatManifest({ ...manifest, settings: unsound }));
  expect(await readManifest(machine.session, machine.place, never)).toBeNull();
});

test("priorities and orders that are no numbers are not taken over from a machine: keys are not quoted", async () => {
  const job = { id: 1, line: 1, name: "jobs.sh.1", command: "true" };
  expect(await reread({ ...job, priority: 10, order: 3 })).toEqual([{ ...job, priority: 10, order: 3 }]);
  for (const odd of ["0$(reboot)", -1, 0.5, 1e10] as number[])
    expect(await reread({ ...job, priority: odd, order: odd })).toEqual([job]);
});
