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
  /** The names that the slot replaces in the script: only the command and `env` may have them. */
  readonly names?: readonly string[];
}

export function jobScript(
  job: Job,
  machine: MachineSpec,
  batch: string,
  env: Readonly<Record<string, string>>,
  { mergesOutput = false, wrap = [], cwd, names = [] }: Manner = {},
): string {
  const typed = exportable(env);
  const fixed = {
    // Of results that go to another directory: their name there.
    SSHOAL_JOB: job.name.startsWith("/") ? job.name.slice(job.name.lastIndexOf("/") + 1) : job.name,
    SSHOAL_BATCH: batch,
    SSHOAL_MACHINE: machine.name,
  };
  const exported = { PYTHONUNBUFFERED: "1", ...machine.env, ...typed, ...fixed };
  const asWritten = (text: string) => quoteAsWritten(text, names);
  const quoteOf = (name: string) => (Object.hasOwn(typed, name) ? quote : asWritten);
  return [
    // Both streams share one file description, so that the order of writes is kept.
    ...(mergesOutput ? ["exec 2>&1"] : []),
    ...Object.entries(exported).map(([name, value]) => `export ${name}=${quoteOf(name)(value)}`),
    ...directoryLines(machine, cwd, asWritten),
    ...setupLines(machine, asWritten),
    ...(wrap.length > 0 ? wrappedLines(job, machine, wrap, asWritten) : [job.command]),
    "",
  ].join("\n");
}

type Quote = (text: string) => string;

/** The slot sees no name between braces, but the shell does. */
function quoteAsWritten(text: string, names: readonly string[]): string {
  return names.reduce((quoted, name) => quoted.replaceAll(`{${name}}`, `{''${name}}`), quote(text));
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
function directoryLines({ name }: MachineSpec, cwd: string | undefined, asWritten: Quote): string[] {
  if (cwd === undefined) return [];
  const fault = asWritten(`sshoal: the job cannot run in ${cwd} on ${name}: no such directory, or no access`);
  return [
    "sshoal_setup=' setup'",
    `cd -- ${asWritten(cwd)} 2>/dev/null || { echo ${fault} >&2; exit 125; }`,
    "unset sshoal_setup",
  ];
}

function setupLines({ name, setup }: MachineSpec, asWritten: Quote): string[] {
  if (setup.length === 0) return [];
  const text = setup.join("\n");
  const isPlain = asWritten(text) === quote(text);
  // begin.sh notes how the shell ends, and whether it is still in these lines then.
  return [
    "sshoal_setup=' setup'",
    "{",
    ...(isPlain ? setup : [`eval ${asWritten(text)}`]),
    `} || { echo ${asWritten(`sshoal: the setup of ${name} failed`)} >&2; exit 125; }`,
    "unset sshoal_setup",
  ];
}

/** Of all shells, a container surely has sh. As on machines, bash runs the command if it is there; never with its ~/.bashrc. */
const INNER = `command -v bash >/dev/null 2>&1 && exec bash --norc -c "$1"; exec sh -c "$1"`;

/**
 * The command is one argument, because a container may not see the spool. No `exec`: the shell of the job stays, to note its exit
 * code.
 */
function wrappedLines({ command }: Job, { name }: MachineSpec, wrap: Wrap, asWritten: Quote): string[] {
  const [program = ""] = wrap;
  const missing = asWritten(`sshoal: there is no ${program} on ${name} to run the job inside (wrap)`);
  const words = [...wrap.map(asWritten), "sh", "-c", quote(INNER), "sh", quote(`${command}\n`)];
  return [
    `command -v ${asWritten(program)} >/dev/null || { echo ${missing} >&2; exit 127; }`,
    words.join(" "),
  ];
}
