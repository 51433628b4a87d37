// One machine with cards that two accounts log in to: their claims, the cards and what holds them are the same. Root only.

import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, rmSync, writeFileSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { STAND_IN_BIN, type StandInState, saveGpus } from "./gpus.js";
import { startSshd, type TestHost } from "./sshd.js";
import { makeWorkspace, type Workspace } from "./workspace.js";

export interface SharedMachine {
  /** The plain account of the tests. */
  readonly ada: TestHost;
  /** An account without a name. */
  readonly bob: TestHost;
  /** What every account can write to. `hold` in it is for jobs, see HOLD. */
  readonly shared: Workspace;
  /** Replaces the cards. */
  install(gpus: StandInState["gpus"]): void;
  /** A process of root that holds memory on a card until it is ended. */
  holdCard(card: number, mb: number): Promise<{ end(): Promise<void> }>;
  stop(): Promise<void>;
}

const BOB_UID = 4712;

/**
 * `hold SECONDS DECLARED USED`: notes what the job has in "log", and holds memory on each of its cards meanwhile. DECLARED
 * is "<thousandths of a card> <memory> <memory on each card>", the last two in MB, as USED.
 */
const HOLD = `#!/bin/sh
here=\${0%/*}
read -r available <<END
$(sed -n 's/^MemAvailable: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo)
END
echo "start $$ \${CUDA_VISIBLE_DEVICES:--} $2 $((available / 1024))" >>"$here/log"
for card in $(echo "$CUDA_VISIBLE_DEVICES" | tr , ' '); do echo "$card $3"; done >"$here/held/$$"
sleep "$1"
rm "$here/held/$$"
echo "end $$" >>"$here/log"
`;

export async function startSharedMachine(gpus: StandInState["gpus"]): Promise<SharedMachine> {
  const shared = await makeWorkspace({ hold: HOLD, log: "", smi: "", "as-bob": asAccount(BOB_UID) });
  await Promise.all([mkdir(shared.path("claims")), mkdir(shared.path("held"))]);
  await chmod(shared.path("claims"), 0o1777);
  for (const path of [shared.dir, shared.path("held")]) await chmod(path, 0o777);
  await chmod(shared.path("log"), 0o666);
  const env = { SSHOAL_CLAIMS: shared.path("claims"), NVIDIA_SMI_STATE: shared.path("smi") };
  const machine = { path: [STAND_IN_BIN], env };
  const [ada, bob] = await Promise.all([
    startSshd({ name: "ada", ...machine }),
    startSshd({ name: "bob", ...machine, username: "root", loginShell: shared.path("as-bob") }),
  ]);
  await chmod(bob.dir, 0o711);
  chownSync(bob.homeDir, BOB_UID, BOB_UID);
  const install = (cards: StandInState["gpus"]) =>
    saveGpus(shared.path("smi"), { gpus: cards, holders: shared.path("held") });
  install(gpus);
  return {
    ada,
    bob,
    shared,
    install,
    holdCard: (card, mb) => holdCard(shared, card, mb),
    async stop() {
      await Promise.all([ada.stop(), bob.stop()]);
      await shared.remove();
    },
  };
}

function asAccount(uid: number): string {
  return `#!/bin/sh\nexec setpriv --reuid ${uid} --regid ${uid} --clear-groups sh "$@"\n`;
}

async function holdCard(shared: Workspace, card: number, mb: number) {
  const child: ChildProcess = spawn("sleep", ["600"], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const file = shared.path("held", String(child.pid));
  await writeFile(file, `${card} ${mb}\n`);
  return {
    async end() {
      child.kill("SIGKILL");
      await ended;
      rmSync(file, { force: true });
    },
  };
}

/** Empties the log, and returns what it said: one line per fault, none if all jobs fitted beside each other. */
export async function faultsIn({ shared }: SharedMachine, cardMb: number): Promise<string[]> {
  const log = await shared.read("log");
  writeFileSync(shared.path("log"), "");
  const faults: string[] = [];
  const running = new Map<string, Held>();
  for (const line of log.trim().split("\n")) {
    const [word, pid = "", cards = "", ...numbers] = line.split(" ");
    if (word === "end") running.delete(pid);
    if (word !== "start") continue;
    const [milli = 0, mb = 0, gpuMb = 0, available = 0] = numbers.map(Number);
    running.set(pid, { cards: cards.split(","), milli, mb, gpuMb });
    faults.push(...overfull([...running.values()], { available, cardMb }).map((what) => `${line}: ${what}`));
  }
  if (running.size > 0) faults.push(`${running.size} jobs never ended`);
  return faults;
}

interface Held {
  readonly cards: readonly string[];
  readonly milli: number;
  readonly mb: number;
  readonly gpuMb: number;
}

function overfull(all: readonly Held[], most: { available: number; cardMb: number }): string[] {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const declared = sum(all.map(({ mb }) => mb));
  const cards = new Set(all.flatMap((job) => job.cards));
  return [
    // Jobs hold none of it, so what they declared together must be free. It changes a little between the claim and the start.
    ...(declared > most.available * 1.05 ? [`${declared} MB declared, ${most.available} MB are free`] : []),
    ...[...cards].flatMap((card) => {
      const on = all.filter((job) => job.cards.includes(card));
      const [milli, gpuMb] = [sum(on.map((job) => job.milli)), sum(on.map((job) => job.gpuMb))];
      return milli > 1000 || gpuMb > most.cardMb ? [`card ${card} has ${milli} and ${gpuMb} MB`] : [];
    }),
  ];
}
