// A queue on three machines by ssh: jobs are frozen, one machine is cut off, one is rebooted, and machines are drained.

import { readFile, rm, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listBelow, waitFor } from "../rig/batch.js";
import { useQueueService } from "../rig/queue-service.js";
import { rebootHost } from "../rig/reboot-host.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";

const service = useQueueService();
let hosts: TestHost[] = [];
let relays: Relay[] = [];

beforeEach(async () => {
  hosts = await Promise.all(["one", "two", "three"].map((name) => startSshd({ name })));
  relays = await Promise.all(hosts.map(({ port }) => startRelay(port)));
  const files = await Promise.all(
    hosts.map((host, n) => host.machineFile("max_jobs: 1", { port: relays[n]?.port ?? 0 })),
  );
  await service.lines(["serve"]);
  await service.work.write("input", "frozen\n");
  await service.lines(["queue", "create", "lab", "--ahead", "1", "--machines", ...files]);
});
afterEach(async () => {
  await Promise.all(relays.map((relay) => relay.stop()));
  await Promise.all(hosts.map((host) => host.stop()));
});

/** The home of each machine is its own: a job notes its start there, and waits for a file there. */
const JOB = (n: number) =>
  `echo ${n} >> ~/started; ${waitFor("$HOME/go").replaceAll("'", '"')}; cat input; exit $((${n} % 2))`;

const startedOn = (host: TestHost | undefined) => linesOf(host, "started");

async function linesOf(host: TestHost | undefined, name: string): Promise<string[]> {
  const text = await readFile(`${host?.homeDir}/${name}`, "utf8").catch(() => "");
  return text.split("\n").filter(Boolean);
}

async function enqueue(from: number, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, n) => JOB(from + n));
  await service.lines(["enqueue", "lab", "--num-cpus", "0.01", "-"], `${lines.join("\n")}\n`);
}

async function go(host: TestHost | undefined): Promise<void> {
  await writeFile(`${host?.homeDir}/go`, "");
}

/** That of the first machine. */
async function machineFile(): Promise<string> {
  const { queues } = await service.json("/v1/queues");
  return queues.find(({ name }: { name: string }) => name === "lab").machines[0];
}

test("one machine is cut off and one is rebooted: every job ends once with its own exit code", async () => {
  await enqueue(1, 9);
  await service.work.write("input", "edited\n");
  await until("each machine runs one", async () => {
    const counts = await Promise.all(hosts.map(async (host) => (await startedOn(host)).length));
    return counts.every((count) => count === 1);
  });
  const [cut, rebooted] = relays;
  cut?.refuse();
  cut?.cut();
  const [lost = ""] = await startedOn(hosts[1]);
  rebootHost(hosts[1] as TestHost);
  rebooted?.cut();
  await Promise.all(hosts.map(go));
  await until("the third machine goes on", async () => (await startedOn(hosts[2])).length > 1);
  cut?.accept();
  expect(await service.run(["wait", "lab"])).toMatchObject({ code: 1 });
  const jobs = await service.jobs("lab");
  expect(jobs.map(({ id, outcome }) => [id, outcome?.code])).toEqual(
    Array.from({ length: 9 }, (_, n) => [n + 1, (n + 1) % 2]),
  );
  expect((await service.job(`lab/${lost}`)).attempt).toBe(2);
  const all = (await Promise.all(hosts.map(startedOn))).flat().sort();
  expect(all).toEqual([..."123456789", lost].sort());
  // Frozen when they were added, by itself.
  expect((await service.ask("/v1/jobs/lab/9/log")).text).toBe("frozen\n");
  expect(listBelow(service.work.dir)).toEqual(["input"]);
});

test("a drained machine gets no more jobs until it is undrained", async () => {
  const [{ machine: name }] = (await service.json("/v1/machines")).machines.filter(
    ({ queue }: { queue: string }) => queue === "lab",
  );
  await service.lines(["drain", `lab/${name}`]);
  await Promise.all(hosts.map(go));
  await enqueue(1, 6);
  expect(await service.run(["wait", "lab"])).toMatchObject({ code: 1 });
  expect(await startedOn(hosts[0])).toEqual([]);
  await service.lines(["undrain", `lab/${name}`]);
  for (const host of hosts.slice(1)) await rm(`${host.homeDir}/go`);
  await enqueue(7, 3);
  await until("it has a job again", async () => (await startedOn(hosts[0])).length > 0);
  await Promise.all(hosts.map(go));
  await service.run(["wait", "lab"]);
  expect((await Promise.all(hosts.map(startedOn))).flat().sort()).toEqual([..."123456789"]);
});

test("a machine that is added to a queue of this computer runs jobs beside it, and leaves it again", async () => {
  await service.lines(["queue", "create", "both", "--ahead", "1"]);
  await service.lines(["queue", "pause", "both"]);
  // It has no copy of its directory.
  const inPlace = await service.add("both", [], `pwd; ${waitFor(service.work.path("go"))}`);
  const file = await machineFile();
  await service.lines(["queue", "add-machine", "both", file]);
  await service.lines(["queue", "resume", "both"]);
  expect(await service.untilState(inPlace, "running")).toMatchObject({ machine: "localhost" });
  await service.lines(["drain", "both/localhost"]);
  const far = await service.add("both", [], "cat input");
  expect((await service.untilState(far, "succeeded")).machine).toContain("one");
  await service.work.write("go", "");
  expect(await service.run(["wait", "both"])).toMatchObject({ code: 0 });
  expect((await service.ask(`/v1/jobs/${inPlace}/log`)).text).toBe(`${service.work.dir}\n`);
  await service.lines(["queue", "remove-machine", "both", "localhost"]);
  const last = await service.run(["queue", "remove-machine", "both", file]);
  expect(last).toMatchObject({ code: 2, stderr: expect.stringContaining("is the last machine") });
});

test("a queue of this computer is what it was once the added machine is removed", async () => {
  await service.lines(["queue", "create", "both"]);
  const file = await machineFile();
  await service.lines(["queue", "add-machine", "both", file]);
  const machines = async () => {
    const all = (await service.json("/v1/machines")).machines as { queue: string; machine: string }[];
    return all.filter(({ queue }) => queue === "both").map(({ machine }) => machine);
  };
  expect(await machines()).toEqual(["localhost", expect.stringContaining("one")]);
  await service.lines(["queue", "remove-machine", "both", file]);
  expect(await machines()).toEqual(["localhost"]);
  const job = await service.add("both", ["--wait"], "pwd");
  expect((await service.ask(`/v1/jobs/${job}/log`)).text).toBe(`${service.work.dir}\n`);
});
