// Reads the settings of a machine file for jobs: their environment, and what is reserved for people.

import type { MachineSpec } from "../../model/machine.js";
import type { Wrap } from "../../model/wrapper.js";
import type { Mistake } from "../mistake.js";
import {
  type Field,
  optional,
  readFields,
  readText,
  readTexts,
  readWholeNumber,
  refuse,
} from "../yaml/yaml-fields.js";

/** The machine expands `~`, because its home may be at another path. */
export function readScratch(field: Field, mistakes: Mistake[]): string | null {
  const text = readText(field, mistakes);
  if (text === null || (/^~?\//.test(text) && !/\p{Cc}/u.test(text))) return text;
  return refuse(field.value, `${field.label} must be an absolute path, or begin with ~/`, mistakes);
}

export function readEnv({ label, value }: Field, mistakes: Mistake[]): MachineSpec["env"] | null {
  if (value.kind !== "map")
    return refuse(value, `${label} must hold lines of the form NAME: value`, mistakes);
  for (const { key } of value.entries) {
    if (key.kind === "text" && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(key.text)) {
      refuse(
        key,
        `a name in ${label} must have letters, digits and _, and must not begin with a digit`,
        mistakes,
      );
    }
  }
  const fields = readFields(value, { known: null, parent: label }, mistakes);
  return Object.fromEntries([...fields].map(([name, field]) => [name, readText(field, mistakes) ?? ""]));
}

/** The line end of a YAML block does not belong to the shell lines. */
export function readSetup(field: Field, mistakes: Mistake[]): string[] {
  return readTexts(field, mistakes)
    .map((text) => text.trimEnd())
    .filter((text) => text !== "");
}

/** Refuses one text, because its quotes and blanks could be meant in several ways. */
export function readWrap(field: Field, mistakes: Mistake[]): Wrap | null {
  const { label, value } = field;
  if (value.kind !== "list")
    return refuse(value, `${label} must be a list of words such as [apptainer, exec, image.sif]`, mistakes);
  const [first] = value.items;
  if (first?.kind === "text" && first.text === "")
    return refuse(first, `${label} must begin with a command`, mistakes);
  return readTexts(field, mistakes);
}

export function readKeepFree({ label, value }: Field, mistakes: Mistake[]): MachineSpec["keepFree"] | null {
  if (value.kind !== "map") return refuse(value, `${label} must hold memory:, cpus: or gpus:`, mistakes);
  const fields = readFields(value, { known: ["memory", "cpus", "gpus"], parent: label }, mistakes);
  const count = (key: string, unit?: "MB") =>
    optional(fields, key, (field) => readWholeNumber(field, { min: 0, ...(unit && { unit }) }, mistakes)) ??
    0;
  return { memoryMb: count("memory", "MB"), cpus: count("cpus"), gpus: count("gpus") };
}
