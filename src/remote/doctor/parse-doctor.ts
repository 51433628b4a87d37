// Parses the raw lines of doctor.sh. They come from a machine: a fact without the right shape is unknown.

import type { HostFacts, ScratchFacts, SetupTrial } from "../../model/examination.js";
import { cleanText, type Facts, factsOf, gatherFacts, parseNumber } from "../probe/probe-facts.js";

export interface DoctorAnswer {
  readonly facts: HostFacts;
  readonly survivor: Survivor | null;
}

/** A process, identified by its pid, start time and boot id. */
export interface Survivor {
  readonly pid: string;
  readonly started: string;
  readonly bootId: string;
}

/** By the local clock, in milliseconds. */
interface Times {
  readonly askedAt: number;
  readonly answeredAt: number;
}

const MOST_SAID = 50;

export function parseDoctor(lines: readonly string[], times: Times): DoctorAnswer {
  const raw = gatherFacts(lines);
  const facts: HostFacts = {
    system: textOf(raw, "system") ?? "",
    user: textOf(raw, "user") ?? "",
    loginShell: textOf(raw, "shell") ?? "",
    missingTools: factsOf(raw, "missing").map(cleanText),
    oddClaims: factsOf(raw, "odd-claim").slice(0, MOST_SAID).map(cleanText),
    hasOwnShm: raw.has("own-shm"),
    packageManager: textOf(raw, "packages"),
    clockAheadMs: clockAhead(parseNumber(factsOf(raw, "time")[0], 1e11), times),
    cudaOrder: textOf(raw, "cuda-order"),
    killsProcesses: logindFact(raw, "KillUserProcesses"),
    lingers: logindFact(raw, "Linger"),
    memoryLimit: textOf(raw, "memory-limit"),
    scratch: parseScratch(raw),
    homeFilesystem: parseFilesystem(raw, "home-filesystem"),
    setup: parseSetup(raw),
    condaDir: textOf(raw, "conda"),
    modulesFile: textOf(raw, "modules"),
    stuckAt: raw.has("late") ? cleanText(factsOf(raw, "at").at(-1) ?? "") : null,
  };
  return { facts, survivor: parseSurvivor(factsOf(raw, "survivor")[0] ?? "") };
}

/** Null if the machine reported nothing about it. */
function textOf(raw: Facts, key: string): string | null {
  return cleanText(factsOf(raw, key)[0] ?? "") || null;
}

/** The clock was read between question and answer, and has only whole seconds. */
function clockAhead(seconds: number | null, { askedAt, answeredAt }: Times): number | null {
  if (seconds === null || !Number.isInteger(seconds)) return null;
  const ms = seconds * 1000;
  if (ms > answeredAt) return ms - answeredAt;
  return Math.min(0, ms + 999 - askedAt);
}

function logindFact(raw: Facts, key: string): boolean | null {
  const values = factsOf(raw, "logind");
  if (values.includes(`${key}=yes`)) return true;
  return values.includes(`${key}=no`) ? false : null;
}

function parseScratch(raw: Facts): ScratchFacts {
  return {
    dir: textOf(raw, "place") ?? "",
    freeKb: parseNumber(factsOf(raw, "free-kb")[0]),
    filesystem: parseFilesystem(raw, "place-filesystem"),
    unwritable: raw.has("unwritable") ? (textOf(raw, "unwritable") ?? "no reason was given") : null,
    isNoexec: raw.has("noexec"),
    unsafe: textOf(raw, "unsafe"),
  };
}

/** `stat` prints `UNKNOWN (0x19830326)` for an unknown type. */
function parseFilesystem(raw: Facts, key: string): string | null {
  const type = textOf(raw, key);
  return type === null || /^UNKNOWN\b/i.test(type) ? null : type;
}

function parseSetup(raw: Facts): SetupTrial | null {
  const late = parseNumber(factsOf(raw, "setup-late")[0]);
  if (late !== null) return { kind: "too-long", seconds: late };
  const code = parseNumber(factsOf(raw, "setup-code")[0], 255);
  if (code === null) return null;
  const said = factsOf(raw, "setup-said")
    .slice(0, MOST_SAID)
    .map((line) => cleanText(line).replace(OUR_SCRIPT, ""))
    // The last line is from sshoal: it reports that the setup failed.
    .filter((line) => line !== "" && !line.startsWith("sshoal: the setup of "))
    .map((line) => line.replace(/^sshoal: /, ""));
  return code === 0
    ? { kind: "worked", python: textOf(raw, "setup-python"), said }
    : { kind: "failed", code, said };
}

/** The prefix of shell messages. It names a script of sshoal, so its line numbers are not those of the setup. */
const OUR_SCRIPT = /^\.\.\/command: (line )?\d+: /;

function parseSurvivor(line: string): Survivor | null {
  const [, pid, started, bootId] = /^([1-9]\d{0,9}) (\d{1,20}) ([0-9a-f-]{36})$/.exec(line) ?? [];
  return pid === undefined || started === undefined || bootId === undefined ? null : { pid, started, bootId };
}
