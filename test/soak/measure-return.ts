// Measures how long after a reconnection the first event arrives, with a relay on this computer that is cut, refuses
// for a while, and accepts again.

import { setTimeout as sleep } from "node:timers/promises";
import { LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { spawnCommand } from "../rig/command.js";
import { openLedger } from "../rig/ledger.js";
import { startRelay } from "../rig/relay.js";
import { startSshd } from "../rig/sshd.js";

/** Long enough that the pauses between tries have reached their maximum. */
const AWAY_MS = 6000;

export async function measureReturn(times: number): Promise<void> {
  const host = await startSshd({ name: "one" });
  const relay = await startRelay(host.port);
  const ledger = await openLedger();
  const took: number[] = [];
  try {
    // Each job ends while the connection is lost: its end is the first event after the reconnection.
    const jobs = Array.from({ length: times }, (_, index) =>
      ledger.job(waitFor(ledger.seen.path(`${index}`))),
    );
    await ledger.write(jobs);
    const machine = await host.machineFile("max_jobs: 1", relay);
    const args = ["jobs.sh", "--machines", machine, ...LIGHT_NO_GPU, "--json"];
    const command = spawnCommand(args, { cwd: ledger.work.dir });
    for (let index = 0; index < times; index++) {
      const line = index + 1;
      const has = (kind: string, of: number) =>
        parseEvents(wholeLines(command.stdout())).find((event) => event.kind === kind && event.job === of);
      await command.until(() => has("job-started", line) !== undefined);
      relay.refuse();
      relay.cut();
      await ledger.seen.write(`${index}`, "");
      await sleep(AWAY_MS + Math.random() * 1500);
      relay.accept();
      const backAt = Date.now();
      await command.until(() => has("job-ended", line) !== undefined);
      took.push((has("job-ended", line)?.at as number) - backAt);
      console.log(`back after a cut, try ${line}: first event after ${took.at(-1)} ms`);
    }
    const { code } = await command.ended;
    const wrong = await ledger.audit([host]);
    if (code !== 0 || wrong.length > 0) throw new Error(`exit code ${code}\n${wrong.join("\n")}`);
  } finally {
    await ledger.remove();
    await relay.stop();
    await host.stop();
  }
  const sorted = took.toSorted((a, b) => a - b);
  console.log(
    `back after a cut: median ${sorted[times >> 1]} ms, longest ${sorted.at(-1)} ms of ${times} tries`,
  );
}

function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}
