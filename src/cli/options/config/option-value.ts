// A value of a configuration file, read by the definition that reads the option on the command line.

import { Command, CommanderError, type Option } from "commander";
import { UserError } from "../../../errors.js";
import type { Mistake } from "../../../input/mistake.js";
import { asList, type Field, readText, readYesOrNo, refuse } from "../../../input/yaml/yaml-fields.js";
import type { Value } from "../../../input/yaml/yaml-tree.js";
import { addOpposites, oppositeOf } from "../opposites.js";
import { toAssignment, variableOf } from "../option-values.js";
import type { Key } from "./config-key.js";

export interface OptionValue {
  /** As commander would have it. */
  readonly value: unknown;
  /** As people would type it after the flag. */
  readonly words: readonly string[];
}

/** A word of a value, and where it is written. */
interface Word {
  readonly text: string;
  readonly offset: number;
}

/** `see`: what a word means, if it names something relative to the file. Null, and a mistake, if the definition refuses it. */
export function readOptionValue(
  key: Key,
  field: Field,
  see: (word: string) => readonly string[],
  mistakes: Mistake[],
): OptionValue | null {
  const { written, listed } = key;
  if (written.isBoolean() || written.negate) return readFlag(key, field, mistakes);
  const before = mistakes.length;
  const words = readWords(listed, field, mistakes);
  for (const { text, offset } of words) {
    const isAssignment = takesAssignments(listed);
    if (isAssignment) noting(() => checkAssignment(text), offset, mistakes);
    else parseNoting(listed, argvFor(listed, see(text)), offset, mistakes);
  }
  if (mistakes.length > before) return null;
  const all = words.flatMap(({ text }) => see(text));
  const value = parseNoting(listed, argvFor(listed, all), field.value.offset, mistakes);
  if (words.length < 2 || Array.isArray(value)) return { value, words: words.map(({ text }) => text) };
  return refuse(field.value, `${field.label} takes one value`, mistakes);
}

function readFlag({ written, listed }: Key, field: Field, mistakes: Mistake[]): OptionValue | null {
  const isSet = readYesOrNo(field, mistakes);
  if (isSet === null) return null;
  const flag = isSet ? written.long : oppositeOf(written);
  const isUndoOfValue = written.negate && !listed.negate && !listed.isBoolean();
  if (isUndoOfValue && !isSet)
    return refuse(field.value, `${field.label} must be true, or left out`, mistakes);
  const value = parseNoting(listed, [flag ?? ""], field.value.offset, mistakes);
  return { value, words: [String(isSet)] };
}

function readWords(option: Option, field: Field, mistakes: Mistake[]): Word[] {
  const { label, value } = field;
  if (value.kind === "map" && takesAssignments(option)) return readAssignments(field, mistakes);
  if (value.kind === "map" && takesNeeds(option)) return [{ text: needText(value), offset: value.offset }];
  const items = value.kind === "list" ? value.items : [value];
  if (items.length === 0 && !option.optional) {
    const hint = `leave it out, or write ${label}: with a value`;
    mistakes.push({ offset: value.offset, message: `${label} is empty`, hint });
  }
  if (option.variadic && value.kind === "text" && /\s/.test(value.text)) {
    mistakes.push({
      offset: value.offset,
      message: `${label}: several values are a list`,
      hint: asList(value.text),
    });
  }
  return items.flatMap((item) => readWord({ label, value: item }, mistakes));
}

function readWord(field: Field, mistakes: Mistake[]): Word[] {
  const text = readText(field, mistakes);
  return text === null ? [] : [{ text, offset: field.value.offset }];
}

/** `--env <NAME=VALUE>`: its variables may also be a mapping. */
function takesAssignments({ flags }: Option): boolean {
  return flags.includes("NAME=VALUE");
}

/** `--require <needs>`: its names may also be a mapping. */
function takesNeeds({ flags }: Option): boolean {
  return flags.includes("<needs>");
}

/** As people would type it. Other values than numbers are refused by the option itself. */
function needText(value: Value): string {
  switch (value.kind) {
    case "text":
      return /^[\d.]+$/.test(value.text) ? value.text : JSON.stringify(value.text);
    case "list":
      return `[${value.items.map(needText).join(", ")}]`;
    case "map":
      return `{${value.entries.map(({ key, value: amount }) => `${needText(key)}: ${needText(amount)}`).join(", ")}}`;
    case "nothing":
      return "null";
    default:
      return value satisfies never;
  }
}

function readAssignments({ label, value }: Field, mistakes: Mistake[]): Word[] {
  const entries = value.kind === "map" ? value.entries : [];
  return entries.flatMap(({ key, value: assigned }) => {
    if (key.kind !== "text") return refuse(key, "a key must be plain text", mistakes) ?? [];
    return readWord({ label: `${label} ${key.text}`, value: assigned }, mistakes).map(({ text, offset }) => ({
      text: `${key.text}=${text}`,
      offset,
    }));
  });
}

function argvFor({ long, short }: Option, words: readonly string[]): string[] {
  if (words.length === 0) return [long ?? short ?? ""];
  return words.flatMap((word) => (long === undefined ? [short ?? "", word] : [`${long}=${word}`]));
}

function parseNoting(option: Option, argv: readonly string[], offset: number, mistakes: Mistake[]): unknown {
  const command = addOpposites(new Command().addOption(option).helpOption(false).exitOverride())
    .configureOutput({ writeErr: () => {} })
    .action(() => {});
  const before = mistakes.length;
  noting(() => command.parse(argv, { from: "user" }), offset, mistakes);
  mistakes.push(...mistakes.splice(before).map((mistake) => withKey(mistake, option)));
  return command.getOptionValue(option.attributeName());
}

/** A hint of the command line, as a line of the file: `timeout: 90s` instead of `--timeout 90s`. */
function withKey(mistake: Mistake, { long, variadic }: Option): Mistake {
  if (mistake.hint === undefined || long === undefined || variadic) return mistake;
  return { ...mistake, hint: mistake.hint.replaceAll(`${long} `, `${long.replace(/^--/, "")}: `) };
}

/** Whether this shell has a variable that is passed on counts once jobs run. */
function checkAssignment(text: string): void {
  toAssignment(text, { [variableOf(text)]: "" });
}

function noting(read: () => void, offset: number, mistakes: Mistake[]): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof CommanderError || error instanceof UserError)) throw error;
    const hint = error instanceof UserError && error.hint !== undefined ? { hint: error.hint } : {};
    mistakes.push({ offset, message: error.message.replace(/^error: /, ""), ...hint });
  }
}
