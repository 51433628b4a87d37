// Makes the script that a slot runs for one job: its environment, the machine's setup, then the user's line. Pure.

import type { Job } from "../../model/job.js";
import type { MachineSpec } from "../../model/machine.js";
import type { Wrap } from "../../model/wrapper.js";
import { quote } from "../../transport/quote.js";

interface Manner {
  readonly mergesOutput?: boolean | undefined;
  readonly wrap?: Wrap;
}

export function jobScript(
  job: Job,
  machine: MachineSpec,
  batch: string,
  env: Readonly<Record<string, string>>,
  { mergesOutput = false, wrap = [] }: Manner = {},
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
    ...(wrap.length > 0 ? wrappedLines(job, machine, wrap) : [job.command]),
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

/** Of all shells, a container surely has sh. As on machines, bash runs the command if it is there; never with its ~/.bashrc. */
const INNER = `command -v bash >/dev/null 2>&1 && exec bash --norc -c "$1"; exec sh -c "$1"`;

/**
 * The command is one argument, because a container may not see the spool. No `exec`: the shell of the job stays, to note its exit
 * code.
 */
function wrappedLines({ command }: Job, { name }: MachineSpec, wrap: Wrap): string[] {
  const [program = ""] = wrap;
  const missing = quote(`sshoal: there is no ${program} on ${name} to run the job inside (wrap)`);
  const words = [...wrap, "sh", "-c", INNER, "sh", `${command}\n`];
  return [
    `command -v ${quote(program)} >/dev/null || { echo ${missing} >&2; exit 127; }`,
    words.map(quote).join(" "),
  ];
}
