// Two clients of two accounts start batches at the same moment, on one machine. Jobs want cards alone or halves of them, and
// so much memory that three run at a time.

import { readFileSync } from "node:fs";
import { LIGHT } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { faultsIn, type SharedMachine } from "../rig/shared-machine.js";
import type { TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace } from "../rig/workspace.js";

export const CARDS = 3;
const CARD_MB = 24_268;
const JOBS = 6;

/** Resolves with what was wrong; empty if nothing was. */
export async function roomRound(machine: SharedMachine): Promise<string[]> {
  const memoryMb = Math.floor(availableMb() / 3.5);
  const batches = [machine.ada, machine.bob].map((host) => runBatch(machine, host, memoryMb));
  const wrong = (await Promise.all(batches)).flat();
  await until("no process is left", () => [...machine.ada.pids(), ...machine.bob.pids()].length === 0);
  return [...wrong, ...(await faultsIn(machine, CARD_MB))];
}

async function runBatch({ shared }: SharedMachine, host: TestHost, memoryMb: number): Promise<string[]> {
  const hold = shared.path("hold");
  const alone = `${hold} 0.15 '1000 ${memoryMb} 20000' 20000`;
  const half = `${hold} 0.15 '500 ${memoryMb} 12000' 11000`;
  const lines = Array.from({ length: JOBS }, (_, at) =>
    at % 3 === 2 ? `#@ --gpus-per-job 0.5 --gpu-memory-required 12000\n${half}\n` : `${alone}\n`,
  );
  const work = await makeWorkspace({ "jobs.sh": lines.join("") });
  const needs = [...LIGHT, "--memory-required", String(memoryMb), "--gpu-memory-required", "20000"];
  try {
    const args = ["jobs.sh", "--machines", await host.machineFile(), ...needs];
    const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir, home: work.dir });
    return code === 0 ? [] : [`${host.name} ended with ${code}:\n${stdout}\n${stderr}`];
  } finally {
    await work.remove();
  }
}

function availableMb(): number {
  return Number(/MemAvailable: +(\d+)/.exec(readFileSync("/proc/meminfo", "utf8"))?.[1]) / 1024;
}
