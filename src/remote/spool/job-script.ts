// Makes the script that a slot runs for one job: its environment, the machine's setup, then the user's line. Pure.

import type { Job } from "../../model/job.js";
import type { MachineSpec } from "../../model/machine.js";
import type { Wrap } from "../../model/wrapper.js";
import { quote } from "../../transport/quote.js";

interface Manner {
  readonly mergesOutput?: boolean | undefined;
  readonly wrap?: Wrap;
  /** Where it runs, if that is not where the slot puts it. */
  readonly cwd?: string | undefined;
}

export function jobScript(
  job: Job,
  machine: MachineSpec,
  batch: string,
  env: Readonly<Record<string, string>>,
  { mergesOutput = false, wrap = [], cwd }: Manner = {},
): string {
  const exported = {
    PYTHONUNBUFFERED: "1",
    ...machine.env,
    ...exportable(env),
    // Of results that go to another directory: their name there.
    SSHOAL_JOB: job.name.startsWith("/") ? job.name.slice(job.name.lastIndexOf("/") + 1) : job.name,
    SSHOAL_BATCH: batch,
    SSHOAL_MACHINE: machine.name,
  };
  return [
    // Both streams share one file description, so that the order of writes is kept.
    ...(mergesOutput ? ["exec 2>&1"] : []),
    ...Object.entries(exported).map(([name, value]) => `export ${name}=${quote(value)}`),
    ...directoryLines(machine, cwd),
    ...setupLines(machine),
    ...(wrap.length > 0 ? wrappedLines(job, machine, wrap) : [job.command]),
    "",
  ].join("\n");
}

/** What the shell of a job sets by itself, or lets no script set. */
const OF_THE_SHELL = /^(?:PWD|OLDPWD|SHLVL|_|UID|EUID|PPID|SHELLOPTS|BASHOPTS|BASH_VERSINFO|SSHOAL_.*)$/;

/** The environment of a whole shell can have exported functions, which have no name of a variable. */
function exportable(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => /^[A-Za-z_]\w*$/.test(name) && !OF_THE_SHELL.test(name)),
  );
}

/** Counts as setup: if the directory is missing, the command does not begin. */
function directoryLines({ name }: MachineSpec, cwd: string | undefined): string[] {
  if (cwd === undefined) return [];
  const fault = quote(`sshoal: the job cannot run in ${cwd} on ${name}: no such directory, or no access`);
  return [
    "sshoal_setup=' setup'",
    `cd -- ${quote(cwd)} 2>/dev/null || { echo ${fault} >&2; exit 125; }`,
    "unset sshoal_setup",
  ];
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
