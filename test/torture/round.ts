// One round of torture: the client, connections and machines of a batch suffer the faults of a plan. The same command
// is typed again until everything is done, then the ledgers are audited.

import { setTimeout as sleep } from "node:timers/promises";
import { LIGHT_NO_GPU, parseEvents } from "../rig/batch.js";
import { type CommandResult, type LiveCommand, spawnCommand } from "../rig/command.js";
import { auditHost } from "../rig/ledger.js";
import { makeWorkspace } from "../rig/workspace.js";
import { audit, type Problem } from "./audit.js";
import { createInflictor, type Inflictor } from "./faults.js";
import { gather } from "./gather.js";
import type { TrialBatch } from "./jobs.js";
import { countStarts } from "./ledger-entries.js";
import type { Machine } from "./machines.js";
import { describeFault, type TimedFault } from "./plan.js";

export interface Round {
  readonly batch: TrialBatch;
  readonly faults: readonly TimedFault[];
  /** For choices among real processes. */
  readonly random: () => number;
}

export interface RoundOutcome {
  readonly problems: readonly Problem[];
  /** The faults, in order, with their effects. */
  readonly struck: readonly string[];
  /** How many jobs began: all attempts of all jobs. */
  readonly starts: number;
  /** The output of each client. */
  readonly clients: readonly ClientEnd[];
  /** The working directory of the batch; call remove(). */
  readonly workDir: string;
  remove(): Promise<void>;
}

interface ClientEnd extends CommandResult {
  /** Null: it ended by itself. */
  readonly endedBy: string | null;
}

/** If more clients than this end by themselves with jobs left, the round fails. */
const MOST_TRIES = 4;
/** If no job has begun for this long, the next fault happens anyway. */
const STALLED_MS = 5000;
/** A client that prints nothing for this long, while no job begins, hangs. */
const SILENT_MS = 90_000;
const CLIENT_DEADLINE_MS = 900_000;
const LOOK_MS = 15;

export async function tortureRound(machines: readonly Machine[], round: Round): Promise<RoundOutcome> {
  await Promise.all(machines.map((machine) => machine.reset()));
  const work = await makeWorkspace({ "jobs.sh": round.batch.text, "input.txt": "input\n" });
  const inflictor = createInflictor(machines, round.random);
  const driver = new Driver(machines, round, inflictor, work.dir);
  const clients = await driver.drive();
  await inflictor.over();
  for (const machine of machines) machine.calm();
  const left = (await Promise.all(machines.map(({ host }) => auditHost(host)))).flat();
  const gathered = await gather(work.dir, machines);
  const { jobs } = round.batch;
  const counts = countsOf(clients.at(-1));
  const { suffered } = inflictor;
  const problems = [
    ...driver.problems,
    ...audit({ jobs, ...gathered, counts, suffered }),
    ...left.map((text): Problem => ({ kind: "left", text })),
  ];
  const starts = gathered.entries.filter(({ what }) => what === "start").length;
  return { problems, struck: driver.struck, starts, clients, workDir: work.dir, remove: work.remove };
}

class Driver {
  readonly problems: Problem[] = [];
  readonly struck: string[] = [];
  readonly #machines: readonly Machine[];
  readonly #faults: TimedFault[];
  readonly #inflictor: Inflictor;
  readonly #workDir: string;
  readonly #progress: Progress;

  constructor(machines: readonly Machine[], round: Round, inflictor: Inflictor, workDir: string) {
    this.#machines = machines;
    this.#faults = [...round.faults];
    this.#inflictor = inflictor;
    this.#workDir = workDir;
    this.#progress = new Progress(machines);
  }

  /** Resolves once a client has ended with nothing left to do, or after too many that have not. */
  async drive(): Promise<ClientEnd[]> {
    const files = await Promise.all(
      this.#machines.map(({ host, relay }) => host.machineFile("max_jobs: 3", relay)),
    );
    const args = ["jobs.sh", "--machines", ...files, ...LIGHT_NO_GPU, "--json", "--retries", "50"];
    const clients: ClientEnd[] = [];
    for (let tries = 0; tries < MOST_TRIES; ) {
      await this.#prepare();
      const client = spawnCommand(args, { cwd: this.#workDir, deadlineMs: CLIENT_DEADLINE_MS });
      const unwatch = this.#watch(client);
      const endedBy = await this.#disturb(client);
      const end = await this.#endOf(client);
      unwatch();
      clients.push({ ...end, endedBy });
      if (endedBy !== null) continue;
      if (isFinished(end)) break;
      tries++;
      if (this.#faults.length > 0) continue;
      await this.#inflictor.over();
      for (const machine of this.#machines) machine.calm();
    }
    return clients;
  }

  /** Faults before the first job are set before the client starts. */
  async #prepare(): Promise<void> {
    for (let next = this.#faults[0]; next?.afterStarts === 0 && next.delayMs === 0; next = this.#faults[0]) {
      this.#faults.shift();
      if (next.fault.kind === "client") continue;
      this.struck.push(`at 0: ${describeFault(next.fault)} ${await this.#inflictor.inflict(next.fault)}`);
    }
  }

  /** Applies faults until the client has ended, or gets a signal that ends it: resolves with the signal, or null. */
  async #disturb(client: LiveCommand): Promise<string | null> {
    let hasEnded = false;
    void client.ended.catch(() => {}).then(() => (hasEnded = true));
    while (!hasEnded) {
      const next = this.#faults[0];
      if (next === undefined) {
        await client.ended.catch(() => {});
        return null;
      }
      await Promise.race([sleep(LOOK_MS), client.ended.catch(() => {})]);
      if (hasEnded || !this.#progress.hasCome(next.afterStarts)) continue;
      await Promise.race([sleep(next.delayMs), client.ended.catch(() => {})]);
      if (hasEnded) continue;
      this.#faults.shift();
      this.#progress.touch();
      const { fault } = next;
      const at = `at ${this.#progress.starts()}: ${describeFault(fault)}`;
      if (fault.kind === "client") {
        this.struck.push(at);
        client.child.kill(fault.signal);
        return fault.signal;
      }
      this.struck.push(`${at} ${await this.#inflictor.inflict(fault)}`);
    }
    return null;
  }

  /** Ends a client that hangs; returns a function that stops watching. */
  #watch(client: LiveCommand): () => void {
    let [last, movedAt] = ["", performance.now()];
    const look = () => {
      const now = `${client.stdout().length} ${client.stderr().length} ${this.#progress.starts()}`;
      if (now !== last) [last, movedAt] = [now, performance.now()];
      if (performance.now() - movedAt < SILENT_MS) return;
      this.problems.push({ kind: "client", text: `hangs: nothing happens for ${SILENT_MS} ms` });
      client.child.kill("SIGKILL");
      movedAt = performance.now();
    };
    const timer = setInterval(look, 1000);
    return () => clearInterval(timer);
  }

  async #endOf(client: LiveCommand): Promise<CommandResult> {
    try {
      const end = await client.ended;
      if (end.code === 70) this.problems.push({ kind: "client", text: `exit code 70: ${end.stderr}` });
      return end;
    } catch {
      this.problems.push({ kind: "client", text: `still running after ${CLIENT_DEADLINE_MS} ms` });
      return { code: null, signal: "SIGKILL", stdout: client.stdout(), stderr: client.stderr() };
    }
  }
}

/** The progress of a round's jobs, from the machines' ledgers. */
class Progress {
  readonly #machines: readonly Machine[];
  #last = 0;
  #movedAt = performance.now();

  constructor(machines: readonly Machine[]) {
    this.#machines = machines;
  }

  starts(): number {
    return this.#machines.reduce((sum, machine) => sum + countStarts(machine.readLedger()), 0);
  }

  hasCome(starts: number): boolean {
    const now = this.starts();
    if (now > this.#last) this.touch();
    this.#last = now;
    return now >= starts || performance.now() - this.#movedAt > STALLED_MS;
  }

  touch(): void {
    this.#movedAt = performance.now();
  }
}

function isFinished(end: CommandResult): boolean {
  return (end.code === 0 || end.code === 1) && countsOf(end)?.unfinished === 0;
}

function countsOf(end: CommandResult | undefined) {
  const text = end?.stdout ?? "";
  const events = parseEvents(text.slice(0, text.lastIndexOf("\n") + 1));
  return events.findLast(({ kind }) => kind === "run-ended")?.counts ?? null;
}
