// Parses a machine file into the machine it describes, or into all its mistakes.

import { basename, join } from "node:path";
import type { Problem } from "../../errors.js";
import type { MachineSpec } from "../../model/machine.js";
import { decodeText } from "../decode.js";
import { type Mistake, toProblems } from "../mistake.js";
import {
  type Fields,
  optional,
  readFields,
  readWholeNumber,
  readWholeNumbers,
  readYesOrNo,
} from "../yaml/yaml-fields.js";
import { parseYamlTree } from "../yaml/yaml-tree.js";
import { isPlainWord } from "./host-word.js";
import { readAddress, readKeyPath } from "./machine-address.js";
import { readResources } from "./machine-resources.js";
import { readEnv, readKeepFree, readScratch, readSetup, readWrap } from "./machine-settings.js";

export interface MachineSource {
  /** The name that the machine gets. */
  readonly name: string;
  /** The path as shown in messages. */
  readonly file: string;
  /** The absolute directory of the file, where a relative `ssh_key_path` starts. */
  readonly directory: string;
  readonly homeDir: string;
  /** The ssh configuration file, absolute; null: the user's own. */
  readonly configFile: string | null;
}

export interface ParsedMachine {
  /** Null if there is at least one problem. */
  readonly spec: MachineSpec | null;
  readonly problems: readonly Problem[];
  /** The key file, which the caller may check on disk, and where it was named. */
  readonly key: { readonly path: string; readonly where: string } | null;
}

const KEYS = [
  "username",
  "ip",
  "host",
  "port",
  "ssh_key_path",
  "transport",
  "gpus",
  "exclude_gpus",
  "max_jobs",
  "scratch",
  "env",
  "setup",
  "wrap",
  "plain_slots",
  "keep_free",
  "resources",
];

const HINTS = {
  empty: "write at least ip: and the machine's address",
  secondDocument: "write one machine per file",
};

export const NOTHING_KEPT = { memoryMb: 0, cpus: 0, gpus: 0 };

export function parseMachine(content: Uint8Array | string, source: MachineSource): ParsedMachine {
  const decoded = decodeText(content);
  if (decoded.kind === "not-text") {
    const { line, reason: message, hint } = decoded;
    return { spec: null, problems: [{ where: `${source.file}:${line}:1`, message, hint }], key: null };
  }
  const { root, mistakes: broken, positionOf } = parseYamlTree(decoded.text, HINTS);
  const whereIs = (offset: number) => {
    const { line, column } = positionOf(offset);
    return `${source.file}:${line}:${column}`;
  };
  const mistakes = [...checkName(source.name), ...broken];
  if (root === null) return { spec: null, problems: toProblems(mistakes, whereIs), key: null };
  const fields = readFields(root, { known: KEYS }, mistakes);
  const keyPath = optional(fields, "ssh_key_path", (field) => readKeyPath(field, source, mistakes));
  const spec = readSpec(fields, { source, keyPath }, mistakes);
  const keyOffset = fields.get("ssh_key_path")?.value.offset ?? 0;
  return {
    spec: mistakes.length === 0 ? spec : null,
    problems: toProblems(mistakes, whereIs),
    key: keyPath === null ? null : { path: keyPath, where: whereIs(keyOffset) },
  };
}

function checkName(name: string): Mistake[] {
  if (isPlainWord(name)) return [];
  const message = `a machine cannot be called ${JSON.stringify(name)}: no spaces, no leading dash`;
  return [{ offset: 0, message, hint: "rename the file" }];
}

/** Placeholders for unreadable values are never used: any mistake discards the spec. */
function readSpec(
  fields: Fields,
  { source, keyPath }: { source: MachineSource; keyPath: string | null },
  mistakes: Mistake[],
): MachineSpec {
  const resources = optional(fields, "resources", (field) => readResources(field, mistakes));
  const wrap = optional(fields, "wrap", (field) => readWrap(field, mistakes)) ?? [];
  return {
    name: source.name,
    file: join(source.directory, basename(source.file)),
    address: readAddress(fields, { keyPath, configFile: source.configFile }, mistakes),
    gpus: optional(fields, "gpus", (field) => readWholeNumbers(field, mistakes)),
    excludeGpus: optional(fields, "exclude_gpus", (field) => readWholeNumbers(field, mistakes)) ?? [],
    maxJobs: optional(fields, "max_jobs", (field) => readWholeNumber(field, { min: 1 }, mistakes)),
    scratch: optional(fields, "scratch", (field) => readScratch(field, mistakes)),
    env: optional(fields, "env", (field) => readEnv(field, mistakes)) ?? {},
    setup: optional(fields, "setup", (field) => readSetup(field, mistakes)) ?? [],
    ...(wrap.length > 0 && { wrap }),
    hasPlainSlots: optional(fields, "plain_slots", (field) => readYesOrNo(field, mistakes)) ?? false,
    keepFree: optional(fields, "keep_free", (field) => readKeepFree(field, mistakes)) ?? NOTHING_KEPT,
    ...(resources && { resources }),
  };
}
