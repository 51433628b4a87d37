// Finds the machine that a name means: the first machine file that exists, or else a host that ssh knows.

import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Problem } from "../../errors.js";
import { listDirectory, look } from "../look.js";
import { HOST_FORMS, type HostWord, isDoubtful, parseHostWord } from "./host-word.js";
import { candidatePaths, describeSearch, hintAtExisting, looksLikeMachineFile } from "./machine-places.js";
import { parseAliases } from "./ssh-aliases.js";

export interface MachineContext {
  readonly cwd: string;
  readonly homeDir: string;
  /** The ssh configuration file, as typed; null: the user's own. */
  readonly configFile: string | null;
  /** True if ssh knows where the name leads. */
  readonly knowsHost: (host: string, configFile: string | null) => Promise<boolean>;
}

export interface FoundFile {
  readonly kind: "file";
  /** The path where it was found. */
  readonly path: string;
  readonly id: string;
  readonly bytes: bigint;
}

interface FoundHost {
  readonly kind: "host";
  readonly name: string;
  readonly host: HostWord;
}

export type Found = FoundFile | FoundHost;

/** Null, with a problem, if it is neither. */
export async function findMachine(
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
  const host = looksLikeHost(name) ? parseHostWord(name) : null;
  if (host !== null && (await isHost(host, isDirectory, context))) return { kind: "host", name, host };
  problems.push(await describeNotFound(name, { host, isDirectory }, context));
  return null;
}

export async function isMachineFile(name: string, { cwd, homeDir }: MachineContext): Promise<boolean> {
  const sights = await Promise.all(candidatePaths(name, homeDir).map((path) => look(resolve(cwd, path))));
  return sights.some(({ kind }) => kind === "file");
}

/** A name with a slash or the ending of a machine file is a path. */
function looksLikeHost(name: string): boolean {
  return /^ssh:\/\//i.test(name) || !(name.includes("/") || looksLikeMachineFile(name));
}

/** A single word may be a mistyped machine file, so ssh must know it as a host. */
async function isHost(host: HostWord, isDirectory: boolean, context: MachineContext): Promise<boolean> {
  if (!isDoubtful(host) && !isDirectory) return true;
  const aliases = await loadAliases(context);
  return aliases.includes(host.host) || context.knowsHost(host.host, context.configFile);
}

async function describeNotFound(
  name: string,
  { host, isDirectory }: { host: HostWord | null; isDirectory: boolean },
  context: MachineContext,
): Promise<Problem> {
  if (name === "") return { where: "--machines", message: "a name is empty", hint: "is a variable unset?" };
  if (isDirectory) {
    return { where: name, message: "is a directory, not a machine file", hint: "name the files in it" };
  }
  if (host === null && looksLikeHost(name)) {
    const hint = `a host is written as ${HOST_FORMS}`;
    return { where: name, message: "is neither a machine file nor a host", hint };
  }
  const searched = describeSearch(name, context.homeDir);
  const files = await listMachineFiles(name, context);
  if (host !== null) {
    const message = `no machine file (looked for ${searched}), and no host that ssh knows`;
    const near = hintAtExisting(name, files, await loadAliases(context));
    return { where: name, message, hint: near ?? `check it with: ssh ${name}` };
  }
  const message = `there is no such machine file; looked for ${searched}`;
  const hint = hintAtExisting(name, files, []) ?? "write one with the lines ip: and username:";
  return { where: name, message, hint };
}

/** The machine files in the places where this name was searched. */
async function listMachineFiles(name: string, { cwd, homeDir }: MachineContext): Promise<string[]> {
  const directories = new Set(candidatePaths(name, homeDir).map((path) => dirname(path)));
  const lists = await Promise.all(
    [...directories].map(async (directory) => {
      const names = await listDirectory(resolve(cwd, directory));
      return names.filter(isListed).map((each) => join(directory, each));
    }),
  );
  return lists.flat();
}

/** Hidden files, such as .sshoal.yaml, are no machine files. */
function isListed(name: string): boolean {
  return looksLikeMachineFile(name) && !name.startsWith(".");
}

async function loadAliases({ homeDir, configFile }: MachineContext): Promise<string[]> {
  const path = configFile ?? join(homeDir, ".ssh/config");
  return parseAliases(await readFile(path, "utf8").catch(() => ""));
}
