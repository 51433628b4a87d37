// Parses the metrics of a job from its output and its metrics.json. Both are the job's own text: names are made safe,
// values are finite numbers or short texts, and their number is limited.

import { stripVTControlCharacters } from "node:util";
import type { Metrics } from "../model/result.js";
import { isNumber } from "../model/sweep.js";

export interface Left {
  /** The end of its output. */
  readonly tail: string;
  /** True if the tail begins in the middle of a line. */
  readonly isCut: boolean;
  /** Null: it left none. */
  readonly file: string | null;
}

const MOST_METRICS = 100;
const LONGEST_NAME = 60;
const LONGEST_TEXT = 200;
const MARK = "sshoal:";

/** For each name, a `sshoal:` line takes precedence over JSON on the last line, and that over metrics.json. */
export function parseMetrics({ tail, isCut, file }: Left): Metrics {
  const lines = tail.split("\n").slice(isCut ? 1 : 0);
  const last = lines.findLast((line) => line.trim() !== "") ?? "";
  const entries = [
    ...(file === null ? [] : readObject(file)),
    ...readObject(drawn(last)),
    ...lines.filter((line) => line.includes(MARK)).flatMap((line) => readMarked(drawn(line))),
  ];
  const metrics = new Map<string, number | string>();
  for (const [name, value] of entries.map(makeHarmless)) {
    if (name !== "" && (metrics.size < MOST_METRICS || metrics.has(name))) metrics.set(name, value);
  }
  return metrics;
}

/** A line as a terminal shows it: without colours, and only the last state of a progress bar. */
function drawn(line: string): string {
  const parts = stripVTControlCharacters(line).split("\r");
  return (parts.findLast((part) => part.trim() !== "") ?? "").trim();
}

type Entry = readonly [name: string, value: number | string];

/** `sshoal: acc=0.91 loss=0.2`, with or without commas. */
function readMarked(line: string): Entry[] {
  if (!line.startsWith(MARK)) return [];
  const words = line.slice(MARK.length).split(/[\s,;]+/);
  return words.flatMap((word): Entry[] => {
    const at = word.indexOf("=");
    const [name, text] = [word.slice(0, at), word.slice(at + 1)];
    return at < 1 || text === "" ? [] : [[name, isNumber(text) ? Number(text) : text]];
  });
}

/** Nested objects become `val.acc`, one level deep; lists and deeper values are skipped. */
function readObject(text: string): Entry[] {
  const object = parseObject(text.trim());
  return Object.entries(object).flatMap(([name, value]) => {
    if (!isObject(value)) return toEntries(name, value);
    return Object.entries(value).flatMap(([inner, each]) => toEntries(`${name}.${inner}`, each));
  });
}

function parseObject(text: string): object {
  if (!text.startsWith("{") || !text.endsWith("}")) return {};
  for (const candidate of [text, quoteOddNumbers(text)]) {
    try {
      const value: unknown = JSON.parse(candidate);
      return isObject(value) ? value : {};
    } catch {
      // It was no JSON after all.
    }
  }
  return {};
}

/** Python writes NaN and Infinity into JSON, which has neither. Text in quotes does not change. */
function quoteOddNumbers(text: string): string {
  return text.replace(/"(?:[^"\\]|\\[\s\S])*(?:"|$)|-?\b(?:NaN|Infinity)\b/g, (found) =>
    found.startsWith('"') ? found : `"${found}"`,
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toEntries(name: string, value: unknown): Entry[] {
  if (typeof value === "number") return [[name, Number.isFinite(value) ? value : String(value)]];
  if (typeof value === "string" || typeof value === "boolean") return [[name, String(value)]];
  return [];
}

function makeHarmless([name, value]: Entry): Entry {
  return [
    harmless(name, LONGEST_NAME).trim(),
    typeof value === "number" ? value : harmless(value, LONGEST_TEXT),
  ];
}

/** Removes control characters, and characters that change the reading direction. */
function harmless(text: string, longest: number): string {
  const start = text.slice(0, 4 * longest).replace(/\s+/g, " ");
  return [...start.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "")].slice(0, longest).join("");
}
