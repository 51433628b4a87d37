// Makes the script that a slot runs for one job: its environment, the machine's setup, then the user's line. Pure.

import type { Job } from "../../model/job.js";
import type { MachineSpec } from "../../model/machine.js";
import { quote } from "../../transport/quote.js";

export function jobScript(
  job: Job,
  machine: MachineSpec,
  batch: string,
  env: Readonly<Record<string, string>>,
  mergesOutput = false,
): string {
  const exported = {
    PYTHONUNBUFFERED: "1",
    ...machine.env,
    ...env,
    SSHOAL_JOB: job.name,
    SSHOAL_BATCH: batch,
    SSHOAL_MACHINE: machine.name,
  };
  return [
    // Both streams share one file description, so that the order of writes is kept.
    ...(mergesOutput ? ["exec 2>&1"] : []),
    ...Object.entries(exported).map(([name, value]) => `export ${name}=${quote(value)}`),
    ...setupLines(machine),
    job.command,
    "",
  ].join("\n");
}

function setupLines({ name, setup }: MachineSpec): string[] {
  if (setup.length === 0) return [];
  // begin.sh notes how the shell ends, and whether it is still in these lines then.
  return [
    "sshoal_setup=' setup'",
    "{",
    ...setup,
    `} || { echo ${quote(`sshoal: the setup of ${name} failed`)} >&2; exit 125; }`,
    "unset sshoal_setup",
  ];
}
