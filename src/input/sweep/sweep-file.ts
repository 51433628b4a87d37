// Parses a sweep file into the sweep it describes, or into all its mistakes.

import type { Problem } from "../../errors.js";
import { SAMPLING_MODES, type Sweep } from "../../model/sweep.js";
import { decodeText } from "../decode.js";
import { type Mistake, toProblems } from "../mistake.js";
import {
  type Field,
  type Fields,
  optional,
  readFields,
  readText,
  readWholeNumber,
  refuse,
} from "../yaml/yaml-fields.js";
import { parseYamlTree } from "../yaml/yaml-tree.js";
import { findUnused, readTemplate } from "./sweep-checks.js";
import { readRules } from "./sweep-file-rules.js";
import { type NamedAxes, readAxes } from "./sweep-file-values.js";

export interface ParsedSweep {
  /** Null if there is at least one problem. */
  readonly sweep: Sweep | null;
  readonly problems: readonly Problem[];
}

const KEYS = ["command", "grid", "random", "list", "when", "reject", "n_samples", "seed", "sampling_mode"];
const HINTS = { empty: "write at least command: and grid:", secondDocument: "write one sweep per file" };
const NO_COMMAND = "such as command: python train.py --lr {lr}";

/** The same limit as on the command line. */
const MOST_SAMPLES = 999_999;

/** `file`: the path as shown in messages. `passed`: names of resources, which stay in the command. */
export function parseSweep(
  content: Uint8Array | string,
  file: string,
  passed?: ReadonlySet<string>,
): ParsedSweep {
  const decoded = decodeText(content);
  if (decoded.kind === "not-text") {
    const { line, reason: message, hint } = decoded;
    return { sweep: null, problems: [{ where: `${file}:${line}:1`, message, hint }] };
  }
  const { root, mistakes: broken, positionOf } = parseYamlTree(decoded.text, HINTS);
  const whereIs = (offset: number) => {
    const { line, column } = positionOf(offset);
    return `${file}:${line}:${column}`;
  };
  const mistakes = [...broken];
  const fields = root === null ? null : readFields(root, { known: KEYS }, mistakes);
  const sweep = fields === null ? null : readSweep(fields, { whereIs, passed }, mistakes);
  return { sweep: mistakes.length === 0 ? sweep : null, problems: toProblems(mistakes, whereIs) };
}

interface SweepContext {
  readonly whereIs: (offset: number) => string;
  readonly passed: ReadonlySet<string> | undefined;
}

function readSweep(fields: Fields, { whereIs, passed }: SweepContext, mistakes: Mistake[]): Sweep | null {
  const named = readAxes(fields, mistakes);
  const rules = { names: new Set(named.places.keys()), whereIs };
  const when = readRules(fields.get("when"), rules, mistakes);
  const reject = readRules(fields.get("reject"), rules, mistakes);
  const inRules = new Set([...when, ...reject].flatMap(({ names }) => [...names]));
  const template = readCommand(fields.get("command"), { named, inRules, passed }, mistakes);
  const settings = {
    samples: optional(fields, "n_samples", (field) =>
      readWholeNumber(field, { min: 1, max: MOST_SAMPLES }, mistakes),
    ),
    seed: optional(fields, "seed", (field) => readWholeNumber(field, { min: 0 }, mistakes)),
    samplingMode: optional(fields, "sampling_mode", (field) => readSamplingMode(field, mistakes)),
  };
  return template && { template, axes: named.axes, when, reject, ...settings };
}

interface Known {
  readonly named: NamedAxes;
  readonly inRules: ReadonlySet<string>;
  readonly passed: ReadonlySet<string> | undefined;
}

function readCommand(field: Field | undefined, { named, inRules, passed }: Known, mistakes: Mistake[]) {
  if (field === undefined) {
    mistakes.push({ offset: 0, message: "command is missing", hint: NO_COMMAND });
    return null;
  }
  const text = readText(field, mistakes);
  if (text === null) return null;
  // The line end of a YAML block does not belong to the command.
  const command = { text: text.trimEnd(), offset: field.value.offset };
  mistakes.push(...findUnused(command, named.places, inRules));
  return readTemplate(command, { names: named.places.keys(), passed }, mistakes);
}

function readSamplingMode(field: Field, mistakes: Mistake[]): Sweep["samplingMode"] {
  const text = readText(field, mistakes);
  const mode = SAMPLING_MODES.find((known) => known === text);
  if (mode !== undefined || text === null) return mode ?? null;
  return refuse(field.value, `${field.label} must be ${SAMPLING_MODES.join(" or ")}`, mistakes);
}
