// Machines that join the queue service over a link of their own: another account and home, without an sshd. Their links are cut,
// and both ends are killed and started again.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { expect, test } from "vitest";
import { remoteAccount } from "../rig/account.js";
import { waitFor } from "../rig/batch.js";
import { useJoiningMachines } from "../rig/joined-machine.js";
import { LITTLE, useQueueService } from "../rig/queue-service.js";
import { until } from "../rig/until.js";

const service = useQueueService();
const newMachine = useJoiningMachines(service);

/** This computer takes no jobs, so that they run on machines that join. */
async function serve(): Promise<void> {
  await service.lines(["serve", "--no-local"]);
  await service.work.write("input", "frozen\n");
}

/** Joined, and known to the service. */
async function joined(name: string, ...args: readonly string[]) {
  const machine = await newMachine();
  const command = machine.join("--name", name, ...args);
  await machine.said(command, "joined: ");
  await untilPhase(name, "unused", "ready");
  return { ...machine, command };
}

async function phaseOf(
  name: string,
): Promise<{ phase: string; reason: string | null; capacity: unknown } | undefined> {
  const { machines } = await service.json("/v1/machines");
  return machines.find((each: { machine: string }) => each.machine === name);
}

function untilPhase(name: string, ...phases: readonly string[]): Promise<unknown> {
  return until(`${name} is ${phases.join(" or ")}`, async () => {
    const found = await phaseOf(name);
    return found !== undefined && phases.includes(found.phase) && found.capacity !== null;
  });
}

async function outputOf(word: string): Promise<string> {
  return readFileSync(`${(await service.job(word)).results}.out`, "utf8");
}

/** It has begun, and ends when `go` is in its home. */
const WAITING = (code = 0) =>
  `touch ~/begun; ${waitFor("$HOME/go").replaceAll("'", '"')}; cat input; exit ${code}`;

test("a job runs on a machine that has joined, as its account and in its home, and its results come home", async () => {
  await serve();
  const box = await joined("box");
  const word = await service.add(
    "default",
    [],
    'cat input; echo "$HOME $(id -u)"; echo new > result; exit 3',
  );
  const job = await service.untilState(word, "failed");
  expect(job).toMatchObject({ machine: "box", outcome: { kind: "exited", code: 3 } });
  await until("it is here", async () => (await service.job(word)).isHere);
  const [input, account = ""] = (await outputOf(word)).split("\n");
  expect(input).toBe("frozen");
  expect(account).toBe(`${box.home.dir} ${remoteAccount().uid}`);
  expect(readFileSync(`${job.results}/result`, "utf8")).toBe("new\n");
  const { capacity } = (await phaseOf("box")) ?? {};
  expect(capacity).toMatchObject({ cpus: { total: expect.any(Number) } });
});

test("jobs get no variable of the terminal in which the machine joined", async () => {
  await serve();
  const machine = await newMachine();
  process.env.SSHOAL_TOKEN_OF_TEST = "secret";
  const command = machine.join("--name", "box");
  delete process.env.SSHOAL_TOKEN_OF_TEST;
  await machine.said(command, "joined: ");
  const word = await service.add("default", [], "env");
  await service.untilState(word, "succeeded");
  await until("it is here", async () => (await service.job(word)).isHere);
  const output = await outputOf(word);
  expect(output).toContain(`HOME=${machine.home.dir}\n`);
  expect(output).not.toMatch(/secret|TERM=|SSH_AUTH_SOCK/);
});

test("a job goes on while the link is cut, and is collected when it is back", async () => {
  await serve();
  const box = await joined("box");
  const word = await service.add("default", [], WAITING(5));
  await until("it has begun", () => existsSync(box.home.path("begun")));
  box.link.refuse();
  box.link.cut();
  await box.said(box.command, "lost the link: ");
  await untilPhase("box", "unreachable");
  expect((await phaseOf("box"))?.reason).toContain("box has no link");
  await box.home.write("go", "");
  box.link.accept();
  await box.said(box.command, "back: box");
  const job = await service.untilState(word, "failed");
  expect(job.outcome).toEqual({ kind: "exited", code: 5 });
});

test("the process that joined is killed with kill -9 and started again: its job ends once, with its exit code", async () => {
  await serve();
  const box = await joined("box");
  const word = await service.add("default", [], `echo x >> ~/starts; ${WAITING(6)}`);
  await until("it has begun", () => existsSync(box.home.path("begun")));
  box.command.child.kill("SIGKILL");
  await box.command.ended;
  await untilPhase("box", "unreachable");
  await box.home.write("go", "");
  await box.said(box.join("--name", "box"), "joined: ");
  const job = await service.untilState(word, "failed");
  expect(job.outcome).toEqual({ kind: "exited", code: 6 });
  expect(await box.home.read("starts")).toBe("x\n");
});

test("the service is killed and started again: the machine comes back by itself, also past a stale socket", async () => {
  await serve();
  const box = await joined("box");
  const word = await service.add("default", [], WAITING(7));
  await until("it has begun", () => existsSync(box.home.path("begun")));
  const { socket } = service.note();
  await service.kill();
  // The file of the socket is there, and nothing listens.
  expect(existsSync(socket)).toBe(true);
  await box.said(box.command, "lost the link: ");
  await service.lines(["serve", "--no-local"]);
  await box.said(box.command, "back: box");
  await box.home.write("go", "");
  const job = await service.untilState(word, "failed");
  expect(job.outcome).toEqual({ kind: "exited", code: 7 });
  // In order, this time.
  await service.lines(["serve", "restart", "--no-local"]);
  await box.said(box.command, "back: box", 2);
});

test("a machine that is away is known after a restart of the service, and gets waiting jobs when it dials in", async () => {
  await serve();
  const box = await joined("box");
  box.command.child.kill("SIGTERM");
  expect((await box.command.ended).code).toBe(0);
  expect(box.command.stdout()).toContain("left: running jobs run on");
  await service.lines(["serve", "restart", "--no-local"]);
  expect(await phaseOf("box")).toMatchObject({ phase: "unreachable", capacity: expect.anything() });
  const word = await service.add("default", [], "true");
  const [why = ""] = await service.lines(["why", word, "--json"]);
  expect(why).toContain("none of its machines has a link: box");
  box.join("--name", "box");
  expect(await service.untilState(word, "succeeded")).toMatchObject({ machine: "box" });
});

test("a second machine of the same name is refused, unless the first one is gone", async () => {
  await serve();
  const first = await joined("box");
  const second = await newMachine();
  const refused = await second.join("--name", "box").ended;
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining("a machine named box has joined already\ntry: sshoal join --name OTHER-NAME"),
  ]);
  // Half open: its data goes nowhere.
  first.link.pause();
  const command = second.join("--name", "box");
  await second.said(command, "joined: ");
  const word = await service.add("default", [], "echo $HOME");
  await service.untilState(word, "succeeded");
  await until("it is here", async () => (await service.job(word)).isHere);
  expect(await outputOf(word)).toBe(`${second.home.dir}\n`);
  first.link.resume();
  // It dials again, and learns that its name is taken.
  expect((await first.command.ended).code).toBe(2);
});

test("a drained machine that has joined gets no jobs until it is opened again", async () => {
  await serve();
  await joined("box");
  await service.lines(["drain", "default/box"]);
  const word = await service.add("default", [], "true");
  const { stdout } = await service.run(["why", word]);
  expect(stdout).toContain("drained");
  expect((await service.job(word)).state).toBe("waiting");
  await service.lines(["undrain", "default/box"]);
  await service.untilState(word, "succeeded");
});

test("this computer keeps serving the queue, and a need that only the joined machine meets goes there", async () => {
  await service.lines(["serve"]);
  await service.work.write("input", "here\n");
  // Added before the machine joins: it has no copy of its directory, and stays on this computer.
  await service.lines(["queue", "pause", "default"]);
  const early = await Promise.all([1, 2, 3].map(() => service.add("default", [], "pwd; cat input")));
  const box = await joined("box", "--capacity", "{licence: 1}");
  await service.lines(["queue", "resume", "default"]);
  for (const word of early) {
    await service.untilState(word, "succeeded");
    await until("it is here", async () => (await service.job(word)).isHere);
    expect(await outputOf(word)).toBe(`${service.work.dir}\nhere\n`);
    expect((await service.job(word)).got).toEqual({});
  }
  const special = await service.add("default", ["--require", "{licence: 1}"], "echo $HOME");
  const job = await service.untilState(special, "succeeded");
  expect(job).toMatchObject({ machine: "box", got: { licence: ["0"] } });
  const { machines } = await service.json("/v1/machines");
  expect(machines.map(({ machine }: { machine: string }) => machine).sort()).toEqual(["box", "localhost"]);
  const impossible = await service.run(["enqueue", ...LITTLE, "--require", "{licence: 2}", "--", "true"]);
  expect(impossible.code).not.toBe(0);
  expect(box.command.stdout()).toBe("joined: box; queue default\n");
});

test("a machine is removed from its queue: its running job ends first, and then its sshoal join", async () => {
  await serve();
  const box = await joined("box");
  const word = await service.add("default", [], WAITING());
  await until("it has begun", () => existsSync(box.home.path("begun")));
  await service.lines(["queue", "remove-machine", "default", "box"]);
  await box.home.write("go", "");
  await service.untilState(word, "succeeded");
  const { code, stderr } = await box.command.ended;
  expect([code, stderr]).toEqual([2, expect.stringContaining("the machine box was removed from its queues")]);
  expect(await phaseOf("box")).toBeUndefined();
});

test("--install writes a unit with the words that were typed, and --json prints changes for programs", async () => {
  await serve();
  const machine = await newMachine();
  const installed = await machine.join("ada@lab", "--queue", "train", "--name", "box", "--install").ended;
  expect([installed.code, installed.stdout]).toEqual([
    0,
    expect.stringContaining("enable --now sshoal-join"),
  ]);
  const unit = await machine.home.read(".config/systemd/user/sshoal-join.service");
  expect(unit).toContain('"join" "ada@lab" "--name" "box" "--queue" "train"');
  expect(unit).toContain("KillMode=process\n");
  const command = machine.join("--json", "--name", "box");
  await command.until(() => command.stdout().includes("\n"));
  expect(JSON.parse(command.stdout())).toMatchObject({
    kind: "join-joined",
    machine: "box",
    queues: ["default"],
  });
});

test("an unknown queue, a service that does not run and another version are refused with what to type", async () => {
  await serve();
  const machine = await newMachine();
  const { code, stderr } = await machine.join("--queue", "defualt").ended;
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining("there is no queue defualt\ntry: did you mean default?"),
  ]);
  const path = `/v1/join?machine=box&queues=default&process=${"x".repeat(16)}&version=999.0.0&key=${"A".repeat(40)}`;
  const plain = await service.ask(path, { method: "POST" });
  expect([plain.status, JSON.parse(plain.text).error.hint]).toEqual([426, "sshoal join, on that machine"]);
  const other = await service.ask(path, {
    method: "POST",
    headers: { connection: "upgrade", upgrade: "sshoal-join" },
  });
  expect([other.status, JSON.parse(other.text).error.message]).toEqual([
    409,
    expect.stringMatching(/the queue service is sshoal \S+, and the machine that joins has 999\.0\.0/),
  ]);
  await service.lines(["serve", "stop"]);
  const gone = await machine.join().ended;
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining("the queue service")]);
  rmSync(machine.home.path(".local"), { recursive: true });
  const none = await machine.join().ended;
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("the queue service does not run")]);
});
