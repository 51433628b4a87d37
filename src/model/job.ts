// A job is one command of a batch; an attempt is one try of it on a machine.

import type { OutputLimit } from "./output-limit.js";

/** Tells the jobs of a batch apart: a whole number above 0 that a job keeps, wherever its line moves. */
export type JobId = number;

export interface Job {
  readonly id: JobId;
  /** Where it stands in its file, from 1, for messages only; null: in none. */
  readonly line: number | null;
  /** What results are filed under: `example_batch_script.sh.1`. */
  readonly name: string;
  /** As written: the lines of one command, without the last line ending. */
  readonly command: string;
  /** Of a job of a sweep: its parameters, as they were typed or drawn. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** What it needs; absent, here and below: as the batch has it. */
  readonly requirement?: Requirement;
  /** 0: none, whatever the batch has. */
  readonly timeoutSeconds?: number;
  /** Null: all of its output is kept. */
  readonly maxOutput?: OutputLimit | null;
  /** Variables of its own. Their values may be secrets, and are kept nowhere. */
  readonly envNames?: readonly string[];
  /** The last part of its name, as the batch file gives it; absent: its number there. */
  readonly label?: string;
  /** What is copied to its machine, relative to the working directory. A job that has it never runs in place. */
  readonly copyForward?: readonly string[];
  /** What comes back, relative to its directory. */
  readonly copyBack?: readonly string[];
  /** Its directory stays on its machine until it succeeds, and the next attempt goes on there. */
  readonly keepsDir?: boolean;
  /** 0 to 999; a smaller number starts earlier. Absent: 500. */
  readonly priority?: number;
  /** Its place among jobs of the same priority, up to 10 digits; absent: its id. */
  readonly order?: number;
}

/** For a place where there is one line: of several, the first and an ellipsis. */
export function shortCommand({ command }: Pick<Job, "command">): string {
  const end = command.indexOf("\n");
  return end === -1 ? command : `${command.slice(0, end).replace(/\s*\\?$/, "")} …`;
}

/** What one job needs. Memory is in MB as nvidia-smi and `free -m` count it (2^20 bytes). */
export interface Requirement {
  readonly cpus: number;
  readonly memoryMb: number;
  readonly gpu: GpuRequirement | null;
  /** One job has the whole machine, with every card visible. */
  readonly reservesMachine: boolean;
}

export interface GpuRequirement {
  readonly count: number;
  readonly memoryMb: number;
  /** How much of a card's computing one job is reckoned to use, 0 to 1.2. */
  readonly utilization: number;
  /** The card is this job's alone. */
  readonly isReserved: boolean;
  /** These, and a slot each time one is listed; left out: whichever have room. */
  readonly listed?: readonly ListedCard[];
}

/** Its index, or its UUID or the start of it. */
export type ListedCard = number | string;

/** Tells requirements apart, in a word that needs no quoting; "-": that of the batch. */
export function kindOf(requirement: Requirement | undefined): string {
  if (requirement === undefined) return "-";
  const { cpus, memoryMb, gpu, reservesMachine } = requirement;
  const cards =
    gpu === null ? [] : [gpu.count, gpu.memoryMb, gpu.utilization, gpu.isReserved ? "alone" : "shared"];
  const listed = gpu?.listed === undefined ? [] : [gpu.listed.join(".")];
  return [cpus, memoryMb, ...cards, ...listed, ...(reservesMachine ? ["machine"] : [])].join("_");
}

/** Tells apart what jobs begin with: equal keys, equal trees. "-": the tree of the batch. */
export function treeKeyOf({ copyForward }: Pick<Job, "copyForward">): string {
  return copyForward === undefined ? "-" : JSON.stringify(copyForward);
}

export type Outcome =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "killed"; readonly signal: string }
  | { readonly kind: "timed-out" }
  | { readonly kind: "stopped" }
  | { readonly kind: "lost"; readonly reason: string };

export function succeeded(outcome: Outcome): boolean {
  return outcome.kind === "exited" && outcome.code === 0;
}

export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case "exited":
      return `exit code ${outcome.code}`;
    case "killed":
      return `killed by ${outcome.signal}`;
    case "timed-out":
      return "ran out of time";
    case "stopped":
      return "stopped";
    case "lost":
      return `lost: ${outcome.reason}`;
    default:
      return outcome satisfies never;
  }
}
