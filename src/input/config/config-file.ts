// A configuration file from disk: its YAML, or everything that keeps it from being read.

import { readFileSync, statSync } from "node:fs";
import type { Problem } from "../../errors.js";
import { quoteIfNeeded } from "../../transport/quote.js";
import { decodeText } from "../decode.js";
import { toProblems } from "../mistake.js";
import { parseYamlTree, type YamlMap } from "../yaml/yaml-tree.js";
import { findDistrust } from "./distrust.js";
import { formatPlace, type Place } from "./file-place.js";
import type { ConfigLevel, ConfigPlace } from "./find-config.js";

export interface ConfigFile {
  readonly level: ConfigLevel;
  readonly path: string;
  /** Null: the problems leave nothing to read. */
  readonly root: YamlMap | null;
  readonly problems: readonly Problem[];
  readonly placeOf: (offset: number) => Place;
}

/** Far more than a configuration file needs. */
const MAX_BYTES = 1_048_576;

const HINTS = {
  empty: "write lines such as machines: [gpu1, gpu2]",
  secondDocument: "write all settings into one document",
};

/** `uid`: of this process; null: the system has none. */
export function loadConfigFile(place: ConfigPlace, uid: number | null): ConfigFile {
  const { level, path } = place;
  try {
    const refused = refuseFile(place, uid);
    if (refused === null) return { level, path, ...parseConfig(readFileSync(path), path) };
    return { level, path, ...nothingRead({ where: path, ...refused }, path) };
  } catch (error) {
    const message = `the configuration file cannot be read: ${(error as NodeJS.ErrnoException).code}`;
    return {
      level,
      path,
      ...nothingRead({ where: path, message, hint: `ls -lL ${quoteIfNeeded(path)}` }, path),
    };
  }
}

function refuseFile(place: ConfigPlace, uid: number | null): Omit<Problem, "where"> | null {
  const { path } = place;
  if (path.endsWith(".yml"))
    return {
      message: "the name of a configuration file ends in .yaml",
      hint: `mv ${path} ${path.replace(/yml$/, "yaml")}`,
    };
  const found = statSync(path);
  if (!found.isFile()) return { message: "is not a file", hint: `ls -ld ${quoteIfNeeded(path)}` };
  if (found.size > MAX_BYTES)
    return { message: `is too large for a configuration file (${found.size} bytes)` };
  return findDistrust(place, uid);
}

type Parsed = Pick<ConfigFile, "root" | "problems" | "placeOf">;

/** `file`: the path as messages show it. */
export function parseConfig(content: Uint8Array | string, file: string): Parsed {
  const decoded = decodeText(content);
  if (decoded.kind === "not-text") {
    const { line, reason: message, hint } = decoded;
    return nothingRead({ where: `${file}:${line}:1`, message, hint }, file);
  }
  const isEmpty = decoded.text.split("\n").every((line) => /^\s*(#.*)?$/.test(line));
  const { root, mistakes, positionOf } = parseYamlTree(isEmpty ? "{}" : decoded.text, HINTS);
  const placeOf = (offset: number): Place => ({ file, ...positionOf(offset) });
  return { root, problems: toProblems(mistakes, (offset) => formatPlace(placeOf(offset))), placeOf };
}

function nothingRead(problem: Problem, file: string): Parsed {
  return { root: null, problems: [problem], placeOf: () => ({ file, line: 1, column: 1 }) };
}
