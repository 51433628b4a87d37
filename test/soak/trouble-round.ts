// One round of faults that the client has to survive: its connections are cut, or its machines lose every process, at
// given times. Then the ledger is audited.

import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { LIGHT_NO_GPU } from "../rig/batch.js";
import { spawnCommand } from "../rig/command.js";
import { openLedger } from "../rig/ledger.js";
import { killAll } from "../rig/processes.js";
import type { Relay } from "../rig/relay.js";
import type { TestHost } from "../rig/sshd.js";
import { writeBatch } from "./batch.js";

export interface Site {
  readonly host: TestHost;
  readonly relay: Relay;
}

export interface Trouble {
  readonly site: Site;
  readonly kind: "cut" | "reboot";
  /** Counted from the previous one. */
  readonly afterMs: number;
}

/** Resolves with the problems. */
export async function troubleRound(sites: readonly Site[], troubles: readonly Trouble[]): Promise<string[]> {
  const ledger = await openLedger();
  try {
    await writeBatch(ledger);
    const machines = await Promise.all(
      sites.map(({ host, relay }) => host.machineFile("max_jobs: 2", relay)),
    );
    const args = ["jobs.sh", "--machines", ...machines, ...LIGHT_NO_GPU, "--json", "--retries", "9"];
    const client = spawnCommand(args, { cwd: ledger.work.dir });
    let isOver = false;
    void client.ended.then(() => {
      isOver = true;
    });
    for (const { site, kind, afterMs } of troubles) {
      await Promise.race([sleep(afterMs), client.ended]);
      if (isOver) break;
      // sshd's own part of a session has another HOME, so a reboot also cuts connections.
      if (kind === "reboot") killAll(site.host.pids());
      site.relay.cut();
    }
    const { code, stdout, stderr } = await client.ended;
    const wrong = troubles.some(({ kind }) => kind === "reboot")
      ? await auditAfterLosses(ledger, sites)
      : await ledger.audit(sites.map(({ host }) => host));
    if (code !== 0) wrong.push(`exit code ${code}`);
    if (wrong.length > 0) wrong.push(stdout, stderr);
    return wrong;
  } finally {
    await ledger.remove();
  }
}

/** Jobs that went down with a machine ran again, and their files moved aside; these may be anything. */
async function auditAfterLosses(
  ledger: Awaited<ReturnType<typeof openLedger>>,
  sites: readonly Site[],
): Promise<string[]> {
  const aside = readdirSync(ledger.work.path("job_results")).filter((name) => /\.old-\d+/.test(name));
  const lost = new Set(aside.map((name) => Number(/^jobs\.sh\.(\d+)\./.exec(name)?.[1])));
  const counts = await ledger.runs();
  const runs = new Map([...counts].filter(([line]) => lost.has(line)));
  const wrong = await ledger.audit(
    sites.map(({ host }) => host),
    { runs },
  );
  return wrong.filter((text) => !/^too much in job_results: .*\.old-\d+/.test(text));
}
