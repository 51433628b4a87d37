// A job is one command of a batch; an attempt is one try of it on a machine.

import type { FailureCause, FailureClass } from "./failure.js";
import { plainPart, shortWord } from "./kind-word.js";
import type { OutputLimit } from "./output-limit.js";
import type { Wrap } from "./wrapper.js";

/** Tells the jobs of a batch apart: a whole number above 0 that a job keeps, wherever its line moves. */
export type JobId = number;

export interface Job {
  readonly id: JobId;
  /** Its line in its file, from 1, for messages only; null if it comes from no file. */
  readonly line: number | null;
  /** The name of its results: `example_batch_script.sh.1`. */
  readonly name: string;
  /** As written: the lines of one command, without the last line ending. */
  readonly command: string;
  /** The parameters of a sweep's job, as they were typed or drawn. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Its requirement; absent, here and below: that of the batch. */
  readonly requirement?: Requirement;
  /** It ran out of memory, and `requirement` is larger than the one that was asked for. */
  readonly isGrown?: true;
  /** 0: none, whatever the batch has. */
  readonly timeoutSeconds?: number;
  /** Null: all of its output is kept. */
  readonly maxOutput?: OutputLimit | null;
  /** More memory than its requirement is refused to it, where the machine can do that. */
  readonly limitsMemory?: boolean;
  /** Runs its command; empty: none, whatever batch and machine have. */
  readonly wrap?: Wrap;
  /** Variables of its own. Their values may be secrets, and are kept nowhere. */
  readonly envNames?: readonly string[];
  /** The last part of its name, if the batch file sets it; absent: its number. */
  readonly label?: string;
  /** The paths that are copied to its machine, relative to the working directory. A job that has it never runs in place. */
  readonly copyForward?: readonly string[];
  /** The paths that are collected, relative to its directory. */
  readonly copyBack?: readonly string[];
  /** An absolute directory of its machine, in which it runs if it runs in place. Absent: that of the batch. */
  readonly cwd?: string;
  /** The name of a frozen working directory that it starts with. A job that has one never runs in place. */
  readonly tree?: string;
  /** Both of its streams go to one file. */
  readonly mergesOutput?: boolean;
  /** How often it was given to the batch before; absent: 0. With another number than before, it runs again. */
  readonly turn?: number;
  /** Its directory stays on its machine until it succeeds, and the next attempt continues in it. */
  readonly keepsDir?: boolean;
  /** 0 to 999; a smaller number starts earlier. Absent: 500. */
  readonly priority?: number;
  /** Its place among jobs of the same priority, up to 10 digits; absent: its id. */
  readonly order?: number;
  /** It begins only when all of these are met. Absent: it comes after no other job. */
  readonly dependsOn?: readonly Dependency[];
}

export interface Dependency {
  readonly job: JobId;
  /** "ended": also if it was stopped or skipped. "failed": not if it was stopped or skipped. */
  readonly when: "succeeded" | "ended" | "failed";
}

/** How a job turned out, for the jobs that come after it. */
export type Turnout =
  /** It may still run, or run once more. */
  | "open"
  | "succeeded"
  | "failed"
  | "stopped"
  | "blocked"
  | "unneeded"
  /** Its machine was left out, and it may still run there. */
  | "unknown";

/** One line for the command: the first line, with an ellipsis if there are more. */
export function shortCommand({ command }: Pick<Job, "command">): string {
  const end = command.indexOf("\n");
  return end === -1 ? command : `${command.slice(0, end).replace(/\s*\\?$/, "")} …`;
}

/** What one job needs. Memory is in MB as nvidia-smi and `free -m` count it (2^20 bytes). */
export interface Requirement {
  readonly cpus: number;
  readonly memoryMb: number;
  readonly gpu: GpuRequirement | null;
  /** Each job gets a whole machine, with every card visible. */
  readonly reservesMachine: boolean;
  /** By name: amounts of it, each from another instance. One amount above the largest instance means several. Absent: none. */
  readonly resources?: Readonly<Record<string, readonly number[]>>;
}

export interface GpuRequirement {
  /** A part of one card, whole cards, or whole cards and a part of one more: 0.5, 2, 2.5. */
  readonly count: number;
  readonly memoryMb: number;
  /** Parts of names, with `|` between them: the name of a card must have one of them. Absent, here and below: any card. */
  readonly model?: string;
  /** The least memory that a card has in all. */
  readonly memoryTotalMb?: number;
  /** The share of a card's computing that one job is expected to use, 0 to 1.2. */
  readonly utilization: number;
  /** No other job may use the card. */
  readonly isReserved: boolean;
  /** The cards to use: one slot per listed card. Absent: any cards with room. */
  readonly listed?: readonly ListedCard[];
}

/** Its index, or its UUID or the beginning of it. */
export type ListedCard = number | string;

/** Identifies a requirement, in a word that needs no quoting and can be a file's name; "-": that of the batch. */
export function kindOf(requirement: Requirement | undefined): string {
  if (requirement === undefined) return "-";
  const { cpus, memoryMb, gpu, reservesMachine } = requirement;
  const cards =
    gpu === null ? [] : [gpu.count, gpu.memoryMb, gpu.utilization, gpu.isReserved ? "alone" : "shared"];
  const listed = gpu?.listed === undefined ? [] : [plainPart(gpu.listed.join("."))];
  const machine = reservesMachine ? ["machine"] : [];
  return shortWord([cpus, memoryMb, ...cards, ...listed, ...machine, ...laterParts(requirement)].join("_"));
}

/** Needs that version 0.3 did not have. Without them a kind is the same word as it was then. */
function laterParts({ gpu, resources = {} }: Requirement): string[] {
  return [
    ...(gpu?.model === undefined ? [] : [`model@${plainPart(gpu.model)}`]),
    ...(gpu?.memoryTotalMb === undefined ? [] : [`total@${gpu.memoryTotalMb}`]),
    ...Object.keys(resources)
      .toSorted()
      .map((name) => `@${plainPart(name)}@${resources[name]?.join("+")}`),
  ];
}

/** What a job says about the files that it starts with. */
export type OwnFiles = Pick<Job, "copyForward" | "tree">;

/** Identifies the files that a job starts with: equal keys mean equal trees. "-": the tree of the batch. */
export function treeKeyOf({ copyForward, tree }: OwnFiles): string {
  if (!hasOwnFiles({ copyForward, tree })) return "-";
  return JSON.stringify(tree === undefined ? copyForward : { tree, copyForward });
}

/** False: it starts with the files of the batch, or runs in place with it. */
export function hasOwnFiles({
  copyForward,
  tree,
}: { [K in keyof OwnFiles]: OwnFiles[K] | undefined }): boolean {
  return copyForward !== undefined || tree !== undefined;
}

/** Both streams of this job go to one file. */
export function mergesOutputOf(job: Job, settings: { readonly mergesOutput?: boolean }): boolean {
  return job.mergesOutput ?? settings.mergesOutput ?? false;
}

export type Outcome =
  /** `cause`: what the machine found out about a failure; absent: nothing. */
  | { readonly kind: "exited"; readonly code: number; readonly cause?: FailureCause }
  | { readonly kind: "killed"; readonly signal: string; readonly cause?: FailureCause }
  | { readonly kind: "timed-out" }
  | { readonly kind: "stopped" }
  | { readonly kind: "lost"; readonly reason: string };

export function succeeded(outcome: Outcome): boolean {
  return outcome.kind === "exited" && outcome.code === 0;
}

/** Null: it succeeded, or was stopped on request. */
export function failureOf(outcome: Outcome): FailureClass | null {
  switch (outcome.kind) {
    case "exited":
      return outcome.code === 0 ? null : (outcome.cause ?? "exit");
    case "killed":
      return outcome.cause ?? "signal";
    case "timed-out":
      return "timeout";
    case "lost":
      return "lost";
    case "stopped":
      return null;
    default:
      return outcome satisfies never;
  }
}

/** Also if it is only likely. */
export function isOutOfMemory(outcome: Outcome): boolean {
  const failure = failureOf(outcome);
  return failure === "out-of-memory" || failure === "likely-out-of-memory" || failure === "gpu-out-of-memory";
}

const CAUSES: Readonly<Record<FailureCause, string>> = {
  "out-of-memory": "out of memory",
  "likely-out-of-memory": "likely out of memory",
  "gpu-out-of-memory": "out of GPU memory",
  "disk-full": "the disk is full",
  "setup-failed": "the setup failed",
};

export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case "exited":
      return `exit code ${outcome.code}${causeText(outcome)}`;
    case "killed":
      return `killed by ${outcome.signal}${causeText(outcome)}`;
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

function causeText({ cause }: { readonly cause?: FailureCause }): string {
  return cause === undefined ? "" : `: ${CAUSES[cause]}`;
}
