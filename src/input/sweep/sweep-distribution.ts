// Parses `log:1e-5..1e-1` into a distribution, or into its mistake.

import { type Distribution, isNumber } from "../../model/sweep.js";
import { suggest } from "../suggest.js";

export type ParsedDistribution =
  | { readonly distribution: Distribution }
  | { readonly message: string; readonly hint?: string };

const SHAPES = {
  uniform: "uniform:0..1",
  log: "log:1e-5..1e-1",
  int: "int:1..10",
  normal: "normal:0,1",
};
const KINDS = Object.keys(SHAPES);

export function parseDistribution(text: string): ParsedDistribution {
  const [, kind = "", range = ""] = /^([^:]*):(.*)$/s.exec(text) ?? [];
  if (kind === "normal") return parseNormal(text, range);
  if (kind === "uniform" || kind === "log" || kind === "int") return parseRange(kind, text, range);
  const [nearest] = kind === "" ? [] : suggest(kind, KINDS);
  const message = `${JSON.stringify(text)} is no distribution`;
  if (nearest !== undefined) return { message: `${message}, did you mean "${nearest}:${range}"?` };
  return { message, hint: `known: ${Object.values(SHAPES).join(", ")}` };
}

/** True for a value that was most likely meant as a distribution. */
export function looksLikeDistribution(text: string): boolean {
  return "distribution" in parseDistribution(text);
}

function parseNormal(text: string, range: string): ParsedDistribution {
  const [mean, deviation] = parseTwo(range, ",");
  if (mean === undefined || deviation === undefined) return malformed("normal", text, "two numbers");
  if (deviation > 0) return { distribution: { kind: "normal", mean, deviation } };
  return malformed("normal", text, "a deviation above 0");
}

function parseRange(kind: "uniform" | "log" | "int", text: string, range: string): ParsedDistribution {
  const [low, high] = parseTwo(range, "..");
  if (low === undefined || high === undefined) return malformed(kind, text, "two numbers");
  if (kind === "int" && ![low, high].every(Number.isSafeInteger)) {
    return malformed(kind, text, "whole numbers");
  }
  if (!(low < high && Number.isFinite(high - low))) return malformed(kind, text, "the smaller end first");
  if (kind === "log" && low <= 0) return malformed(kind, text, "ends above 0");
  return { distribution: { kind, low, high } };
}

function parseTwo(range: string, between: string): number[] {
  const at = range.indexOf(between);
  if (at === -1) return [];
  const ends = [range.slice(0, at), range.slice(at + between.length)].map((end) => end.trim());
  return ends.every(isNumber) ? ends.map(Number) : [];
}

function malformed(kind: keyof typeof SHAPES, text: string, needs: string): ParsedDistribution {
  return { message: `${JSON.stringify(text)} needs ${needs}`, hint: `such as ${SHAPES[kind]}` };
}
