// Loads the machines that are named on the command line: by a machine file, or as people name them to ssh.

import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Problem, problemsError } from "../../errors.js";
import type { MachineSpec } from "../../model/machine.js";
import { look } from "../look.js";
import {
  type Found,
  type FoundFile,
  findMachine,
  isMachineFile,
  type MachineContext,
} from "./find-machine.js";
import type { ParsedMachine } from "./machine-file.js";
import { expandHome, nameMachines } from "./machine-places.js";
import { plainMachine } from "./plain-machine.js";

/** Far more than a machine file needs: a larger file was named by mistake. */
const MAX_MACHINE_FILE_BYTES = 65536n;

/** Throws one error with all mistakes of all names and files, including key files. */
export async function loadMachines(
  names: readonly string[],
  context: MachineContext,
): Promise<MachineSpec[]> {
  const problems: Problem[] = [];
  const configFile = await findConfigFile(context, problems);
  // An ssh configuration that cannot be read might have the name.
  const knowsHost = problems.length > 0 ? async () => true : context.knowsHost;
  const settled = { ...context, configFile, knowsHost };
  const found: Found[] = [];
  for (const name of await splitLists(names, settled)) {
    const machine = await findMachine(name, settled, problems);
    const earlier = found.find((each) => machine !== null && idOf(each) === idOf(machine));
    if (earlier !== undefined) problems.push(describeRepeated(name, earlier));
    else if (machine !== null) found.push(machine);
  }
  const nameOf = namesOf(found);
  const machines = await Promise.all(found.map((machine) => loadMachine(machine, nameOf(machine), settled)));
  problems.push(...machines.flatMap((machine) => machine.problems));
  if (problems.length > 0) throw problemsError(problems);
  return machines.map(({ spec }) => spec).filter((spec) => spec !== null);
}

/** `gpu1,gpu2` means two machines, unless a machine file has that name. */
async function splitLists(names: readonly string[], context: MachineContext): Promise<string[]> {
  const lists = names.map(async (name) => {
    if (!name.includes(",") || (await isMachineFile(name, context))) return [name];
    const parts = name.split(",").filter((part) => part !== "");
    return parts.length === 0 ? [name] : parts;
  });
  return (await Promise.all(lists)).flat();
}

/** Absolute. As in ssh, `none` means an empty configuration. */
async function findConfigFile(
  { cwd, homeDir, configFile }: MachineContext,
  problems: Problem[],
): Promise<string | null> {
  if (configFile === null) return null;
  if (configFile === "none") return "/dev/null";
  const path = resolve(cwd, expandHome(configFile, homeDir));
  const { kind } = await look(path);
  if (kind === "file") return path;
  const says = { absent: "there is no such file", unreadable: "cannot be read", directory: "is a directory" };
  problems.push({ where: `-F ${configFile}`, message: says[kind], hint: "name an ssh configuration file" });
  return null;
}

function idOf(found: Found): string {
  return found.kind === "file" ? found.id : found.name;
}

function namesOf(found: readonly Found[]): (machine: Found) => string {
  const paths = found.flatMap((each) => (each.kind === "file" ? [each.path] : []));
  const hosts = found.flatMap((each) => (each.kind === "host" ? [each.name] : []));
  const names = nameMachines(paths, hosts);
  return (machine) =>
    machine.kind === "host" ? machine.name : (names[paths.indexOf(machine.path)] ?? machine.path);
}

function describeRepeated(name: string, earlier: Found): Problem {
  const hint = "name each machine once";
  if (earlier.kind === "host") return { where: name, message: "is given twice", hint };
  const message =
    name === earlier.path ? "the machine file is given twice" : `is the same machine file as ${earlier.path}`;
  return { where: name, message, hint };
}

async function loadMachine(found: Found, name: string, context: MachineContext): Promise<ParsedMachine> {
  if (found.kind === "file") return loadMachineFile(found, name, context);
  const { configFile } = context;
  const address = { kind: "ssh", ...found.host, keyPath: null, configFile, transport: null } as const;
  return { spec: plainMachine(name, address), problems: [], key: null };
}

async function loadMachineFile(
  { path, bytes }: FoundFile,
  name: string,
  { cwd, homeDir, configFile }: MachineContext,
): Promise<ParsedMachine> {
  if (bytes > MAX_MACHINE_FILE_BYTES) {
    const message = `is too large for a machine file (${bytes} bytes)`;
    return { spec: null, problems: [{ where: path, message, hint: "name a YAML file" }], key: null };
  }
  const absolute = resolve(cwd, path);
  const source = { name, file: path, directory: dirname(absolute), homeDir, configFile };
  // Loads the YAML parser, which other names do not need.
  const { parseMachine } = await import("./machine-file.js");
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
          hint: `list the directory: ls ${dirname(path)}`,
        },
      ];
    default:
      return kind satisfies never;
  }
}
