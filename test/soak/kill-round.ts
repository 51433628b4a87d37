// One round of killing: the client of a batch is killed at given times, each time followed by the same command, the
// last time to the end. Then the ledger is audited.

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { LIGHT_NO_GPU } from "../rig/batch.js";
import { spawnCommand } from "../rig/command.js";
import { openLedger } from "../rig/ledger.js";
import type { TestHost } from "../rig/sshd.js";
import { writeBatch } from "./batch.js";

export interface KillRound {
  readonly hosts: readonly TestHost[];
  /** When each client in turn is killed, in ms after its start. */
  readonly killsAtMs: readonly number[];
}

export interface KillOutcome {
  /** The last event of the record at each kill; without clients that had finished before. */
  readonly killedAfter: readonly string[];
  /** Of the last client, or of the only one. */
  readonly wallMs: number;
  /** Empty: nothing was lost, nothing ran twice, nothing is left. */
  readonly wrong: readonly string[];
}

export async function killRound({ hosts, killsAtMs }: KillRound): Promise<KillOutcome> {
  const ledger = await openLedger();
  const { work } = ledger;
  try {
    await writeBatch(ledger);
    const machines = await Promise.all(hosts.map((host) => host.machineFile("max_jobs: 2")));
    const args = ["jobs.sh", "--machines", ...machines, ...LIGHT_NO_GPU, "--json"];
    const killedAfter: string[] = [];
    for (const ms of killsAtMs) {
      const client = spawnCommand(args, { cwd: work.dir });
      const isKilled = await Promise.race([sleep(ms, true), client.ended.then(() => false)]);
      client.child.kill("SIGKILL");
      await client.ended;
      if (isKilled) killedAfter.push(lastRecorded(work.path("job_results/.sshoal/jobs.sh.jsonl")));
    }
    const startedAt = performance.now();
    const { code, stdout, stderr } = await spawnCommand(args, { cwd: work.dir }).ended;
    const wallMs = performance.now() - startedAt;
    const wrong = await ledger.audit(hosts);
    if (code !== 0) wrong.push(`exit code ${code}`);
    if (wrong.length > 0) wrong.push(stdout, stderr);
    return { killedAfter, wallMs, wrong };
  } finally {
    await ledger.remove();
  }
}

function lastRecorded(path: string): string {
  try {
    const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
    return (JSON.parse(lines.at(-1) ?? "{}") as { kind?: string }).kind ?? "nothing";
  } catch {
    return "nothing";
  }
}
