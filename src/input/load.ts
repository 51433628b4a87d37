// Batch and machine files from disk: the one file of this room that looks there.

import { open, readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { type Problem, problemsError, UserError } from "../errors.js";
import type { Job } from "../model/job.js";
import type { MachineSpec } from "../model/machine.js";
import { parseBatch } from "./batch-file.js";
import { NOTHING_KEPT, type ParsedMachine, parseMachine } from "./machine-file.js";
import {
  candidatePaths,
  describeSearch,
  hintAtExisting,
  looksLikeMachineFile,
  nameMachines,
} from "./machine-places.js";
import { suggest } from "./suggest.js";

export interface MachineContext {
  readonly cwd: string;
  readonly homeDir: string;
  /** For files that name no user. */
  readonly username: string;
}

/** What is at a path; `id` tells files apart whatever they are called. */
type Sight =
  | { readonly kind: "file"; readonly id: string; readonly bytes: bigint }
  | { readonly kind: "directory" | "absent" | "unreadable" };

/** A machine file that is there, by the path it was found at. */
interface Found {
  readonly path: string;
  readonly id: string;
  readonly bytes: bigint;
}

/** Far more than a machine file needs: what is larger was named by mistake. */
const MAX_MACHINE_FILE_BYTES = 65536n;

export async function loadBatch(path: string): Promise<Job[]> {
  const { kind } = await look(path);
  switch (kind) {
    case "file":
      return parseBatch(await readFile(path), path);
    case "directory":
      throw new UserError(`${path}: is a directory, not a script`, { hint: "name the script in it" });
    case "unreadable":
      throw new UserError(`${path}: the script cannot be read`, { hint: `ls -l ${path}` });
    case "absent":
      throw new UserError(`${path}: there is no such script`, { hint: await nearestScript(path) });
    default:
      return kind satisfies never;
  }
}

async function nearestScript(path: string): Promise<string> {
  const name = basename(path);
  // The name itself is listed when it is a link that leads nowhere.
  const others = (await listDirectory(dirname(path))).filter((other) => other !== name);
  const [nearest] = suggest(name, others);
  return nearest === undefined
    ? `check the path with ls ${dirname(path)}`
    : `did you mean ${join(dirname(path), nearest)}?`;
}

/** Throws one error with all the mistakes of all the files, key files included. */
export async function loadMachines(
  names: readonly string[],
  context: MachineContext,
): Promise<MachineSpec[]> {
  const problems: Problem[] = [];
  const found: Found[] = [];
  for (const name of names) {
    const file = await findMachine(name, context, problems);
    const earlier = found.find(({ id }) => id === file?.id);
    if (earlier !== undefined) problems.push(describeRepeated(name, earlier.path));
    else if (file !== null) found.push(file);
  }
  const machineNames = nameMachines(found.map(({ path }) => path));
  const machines = await Promise.all(
    found.map((file, index) => loadMachine(file, machineNames[index] ?? file.path, context)),
  );
  problems.push(...machines.flatMap((machine) => machine.problems));
  if (problems.length > 0) throw problemsError(problems);
  return machines.map(({ spec }) => spec).filter((spec) => spec !== null);
}

/** The first candidate that is a file; null, and a problem, when there is none that can be read. */
async function findMachine(
  name: string,
  context: MachineContext,
  problems: Problem[],
): Promise<Found | null> {
  let isDirectory = false;
  for (const path of candidatePaths(name, context.homeDir)) {
    const sight = await look(resolve(context.cwd, path));
    if (sight.kind === "file") return { path, ...sight };
    if (sight.kind === "unreadable") {
      problems.push({ where: path, message: "the machine file cannot be read", hint: `ls -l ${path}` });
      return null;
    }
    isDirectory ||= sight.kind === "directory";
  }
  problems.push(await describeNotFound(name, isDirectory, context));
  return null;
}

async function describeNotFound(
  name: string,
  isDirectory: boolean,
  context: MachineContext,
): Promise<Problem> {
  if (name === "") return { where: "--machines", message: "a name is empty", hint: "is a variable unset?" };
  if (isDirectory) {
    return { where: name, message: "is a directory, not a machine file", hint: "name the files in it" };
  }
  const message = `there is no such machine file; looked for ${describeSearch(name, context.homeDir)}`;
  const directories = new Set(candidatePaths(name, context.homeDir).map((path) => dirname(path)));
  const existing = await Promise.all(
    [...directories].map((directory) => listMachineFiles(directory, context.cwd)),
  );
  return { where: name, message, hint: hintAtExisting(name, existing.flat()) };
}

async function listMachineFiles(directory: string, cwd: string): Promise<string[]> {
  const names = await listDirectory(resolve(cwd, directory));
  return names.filter(looksLikeMachineFile).map((name) => join(directory, name));
}

function describeRepeated(name: string, earlier: string): Problem {
  const message =
    name === earlier ? "the machine file is given twice" : `is the same machine file as ${earlier}`;
  return { where: name, message, hint: "name each machine once" };
}

async function loadMachine(file: Found, name: string, context: MachineContext): Promise<ParsedMachine> {
  if (file.bytes > MAX_MACHINE_FILE_BYTES) {
    const message = `is too large for a machine file (${file.bytes} bytes)`;
    return { spec: null, problems: [{ where: file.path, message, hint: "name a YAML file" }], key: null };
  }
  const absolute = resolve(context.cwd, file.path);
  const source = { name, file: file.path, directory: dirname(absolute), ...context };
  const machine = parseMachine(await readFile(absolute), source);
  const keyProblems = machine.key === null ? [] : await findKeyProblems(machine.key);
  return { ...machine, problems: [...machine.problems, ...keyProblems] };
}

async function findKeyProblems({ path, where }: { path: string; where: string }): Promise<Problem[]> {
  const { kind } = await look(path);
  switch (kind) {
    case "file":
      return [];
    case "directory":
      return [{ where, message: `ssh_key_path ${path} is a directory`, hint: "name the key file in it" }];
    case "unreadable":
      return [{ where, message: `ssh_key_path ${path} cannot be read`, hint: `ls -l ${path}` }];
    case "absent":
      return [
        {
          where,
          message: `ssh_key_path ${path} does not exist`,
          hint: `ls ${dirname(path)} shows what is there`,
        },
      ];
    default:
      return kind satisfies never;
  }
}

/** The machine that is used when none is named: this one, without ssh. */
export function localMachine(): MachineSpec {
  return {
    name: "localhost",
    address: { kind: "local" },
    file: null,
    gpus: null,
    excludeGpus: [],
    maxJobs: null,
    scratch: null,
    env: {},
    setup: [],
    keepFree: NOTHING_KEPT,
  };
}

async function look(path: string): Promise<Sight> {
  try {
    const found = await stat(path, { bigint: true });
    if (found.isDirectory()) return { kind: "directory" };
    // Opening is the only test that holds: access(2) answers for the real user and knows no root squash.
    await (await open(path)).close();
    return { kind: "file", id: `${found.dev}:${found.ino}`, bytes: found.size };
  } catch (error) {
    return { kind: isAbsence(error) ? "absent" : "unreadable" };
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/** Only ever for a hint: a directory that cannot be listed has nothing to offer. */
async function listDirectory(path: string): Promise<string[]> {
  return readdir(path).catch(() => []);
}
