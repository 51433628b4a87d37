// One round: a service of its own gets jobs from one client after the other, and is killed at random instants and started again,
// also while a client asks it. In the end each job whose name was printed is there, ran as often as it says, and ended
// truly.

import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { listBelow } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { makeHome } from "../rig/own-home.js";
import { commandOf, killAll, pidsWithHome } from "../rig/processes.js";
import { until } from "../rig/until.js";
import type { Workspace } from "../rig/workspace.js";
import { auditJob, type Planned, type Printed, planJob, type Shown } from "./jobs.js";

const QUEUE = "soak";
const NEED = ["--num-cpus", "0.1"];
const MOST_KILLS = 5;
const LONGEST_LIFE_MS = 2000;
const LINES = 8;
const DRAINED_WITHIN_MS = 120_000;

export interface QueueOutcome {
  readonly jobs: number;
  readonly kills: number;
  /** Requests that the death of the service ended. */
  readonly cut: number;
  /** Empty: nothing was. */
  readonly wrong: readonly string[];
}

export async function queueRound(random: () => number): Promise<QueueOutcome> {
  const home = await makeHome();
  try {
    await mkdir(home.path("ran"));
    await mkdir(home.path("run"), { mode: 0o700 });
    return await new Round(home, random).play();
  } finally {
    killAll(pidsWithHome(home.dir));
    await home.remove();
  }
}

class Round {
  readonly #home: Workspace;
  readonly #random: () => number;
  readonly #all: Planned[] = [];
  readonly #printed: Printed[] = [];
  readonly #extra = new Map<string, number>();
  readonly #wrong: string[] = [];
  #cut = 0;
  #isKilling = true;

  constructor(home: Workspace, random: () => number) {
    this.#home = home;
    this.#random = random;
  }

  async play(): Promise<QueueOutcome> {
    await this.#start();
    await this.#sshoal(["queue", "create", QUEUE, "--max-jobs", "4"]);
    const kills = 1 + Math.floor(this.#random() * MOST_KILLS);
    await Promise.all([this.#kill(kills), this.#ask()]);
    const shown = await this.#drained();
    for (const planned of this.#all)
      this.#wrong.push(
        ...auditJob(planned, {
          dir: this.#home.path("ran"),
          shown,
          isPrinted: this.#printed.some((each) => each.planned === planned),
          extraRuns: this.#extra.get(planned.label) ?? 0,
        }),
      );
    await this.#findLeft();
    if (this.#wrong.length > 0) this.#wrong.push(readFileSync(`${this.#state()}/service.log`, "utf8"));
    return { jobs: shown.length, kills, cut: this.#cut, wrong: this.#wrong };
  }

  async #kill(kills: number): Promise<void> {
    for (let kill = 0; kill < kills; kill++) {
      await sleep(this.#random() * LONGEST_LIFE_MS);
      const { pid } = JSON.parse(readFileSync(`${this.#state()}.json`, "utf8")) as { pid: number };
      process.kill(pid, "SIGKILL");
      await this.#start();
    }
    this.#isKilling = false;
  }

  async #start(): Promise<void> {
    const { code, stderr } = await this.#sshoal(["serve"]);
    if (code !== 0) throw new Error(`the service does not start: ${stderr}`);
  }

  /** One request after the other, while the service is killed. */
  async #ask(): Promise<void> {
    for (let turn = 1; this.#isKilling; turn++) {
      const chance = this.#random();
      if (chance < 0.3) await this.#addLines(turn);
      else if (chance < 0.4) await this.#retry();
      else await this.#add(turn);
    }
  }

  async #add(turn: number): Promise<void> {
    const planned = this.#plan(`${turn}`, this.#printed);
    await this.#enqueue([...planned.options, "--", planned.command], [planned]);
  }

  async #addLines(turn: number): Promise<void> {
    const jobs = Array.from({ length: LINES }, (_, line) => this.#plan(`${turn}-${line}`, null));
    await this.#enqueue(["-"], jobs, jobs.map(({ command }) => `${command}\n`).join(""));
  }

  #plan(label: string, printed: readonly Printed[] | null): Planned {
    const planned = planJob(label, { dir: this.#home.path("ran"), random: this.#random, printed });
    this.#all.push(planned);
    return planned;
  }

  async #enqueue(words: readonly string[], jobs: readonly Planned[], stdin = ""): Promise<void> {
    const { code, stdout, stderr } = await this.#sshoal(["enqueue", QUEUE, ...NEED, ...words], stdin);
    const names = stdout.split("\n").slice(0, -1);
    for (const [place, name] of names.entries()) {
      const planned = jobs[place];
      if (planned !== undefined) this.#printed.push({ id: name.replace(`${QUEUE}/`, ""), planned });
    }
    // It was to be skipped, and the job before it has ended by now.
    if (jobs[0]?.exitCode === null && stderr.includes("could never begin")) return;
    await this.#noteCut(code, stderr);
  }

  /** Refused unless the job has ended by then. */
  async #retry(): Promise<void> {
    const failed = this.#printed.filter(({ planned }) => planned.exitCode === 7);
    const chosen = failed[Math.floor(this.#random() * failed.length)];
    if (chosen === undefined) return;
    const { label } = chosen.planned;
    this.#extra.set(label, (this.#extra.get(label) ?? 0) + 1);
    const { code, stderr } = await this.#sshoal(["retry", `${QUEUE}/${chosen.id}`]);
    if (!stderr.includes("has not ended")) await this.#noteCut(code, stderr);
  }

  async #noteCut(code: number | null, stderr: string): Promise<void> {
    if (code === 0) return;
    if (stderr.includes("is gone")) this.#cut++;
    else if (stderr.includes("does not run")) await sleep(50);
    else this.#wrong.push(`a command ended with ${code}: ${stderr}`);
  }

  async #drained(): Promise<Shown[]> {
    const all = async () => {
      const { stdout } = await this.#sshoal(["show", QUEUE, "--json"]);
      const jobs = stdout
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Shown);
      return jobs.some(({ state }) => state === "waiting" || state === "running") ? null : jobs;
    };
    return until("all jobs are over", all, DRAINED_WITHIN_MS);
  }

  /** A service without jobs removes its files from the machine after some seconds. */
  async #findLeft(): Promise<void> {
    const batches = this.#home.path(".sshoal/batches");
    await until("nothing is left", () => listBelow(batches).length === 0, 30_000).catch(() => undefined);
    this.#wrong.push(
      ...listBelow(batches)
        .slice(0, 10)
        .map((path) => `left on the machine: batches/${path}`),
    );
    await this.#sshoal(["serve", "stop"]);
    await until("no process is left", () => pidsWithHome(this.#home.dir).length === 0).catch(() => undefined);
    for (const pid of pidsWithHome(this.#home.dir))
      this.#wrong.push(`there is still process ${pid}: ${commandOf(pid).replaceAll("\0", " ")}`);
  }

  #state(): string {
    return this.#home.path(`.local/state/sshoal/service@${hostname().replace(/[^\w.-]/g, "_")}`);
  }

  #sshoal(args: readonly string[], stdin = "") {
    return runCommand(args, {
      program: "sshoal",
      cwd: this.#home.dir,
      home: this.#home.dir,
      env: { XDG_RUNTIME_DIR: this.#home.path("run") },
      stdin,
    });
  }
}
