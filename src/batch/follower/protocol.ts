// What the client that follows a batch and those that ask it something say to each other. Nothing that comes over the
// socket is used before it is read here.

import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import type { Message } from "../../socket/json-channel.js";
import type { StoppedJob } from "../stop-jobs.js";

/** Of what both say. An asker does not talk to a follower of another one. */
export const PROTOCOL = 1;

export type Request =
  /** What happened so far, and what happens from now on. */
  | { readonly kind: "watch" }
  /** Null: all of them. */
  | { readonly kind: "stop"; readonly jobs: readonly JobId[] | null }
  | { readonly kind: "retry"; readonly jobs: readonly JobId[] }
  | { readonly kind: "drain" | "undrain"; readonly machine: string }
  | ({ readonly kind: "reread" } & Typed);

/** A command that asks for a batch, as it was typed. */
export interface Typed {
  readonly program: string;
  readonly argv: readonly string[];
  /** What it takes from the shell it was typed in. */
  readonly env: Readonly<Record<string, string>>;
}

export type Answer =
  | { readonly kind: "hello"; readonly protocol: number }
  /** What was asked for is done, or begun where that takes time. */
  | { readonly kind: "done" }
  /** What became of the jobs that were to be stopped. */
  | { readonly kind: "stopped"; readonly jobs: readonly StoppedJob[] }
  | { readonly kind: "refused"; readonly message: string; readonly hint: string | null }
  | Snapshot
  | { readonly kind: "event"; readonly event: RunEvent; readonly isNews: boolean }
  /** The follower ends. Null: it leaves the batch, which goes on. */
  | { readonly kind: "end"; readonly exitCode: number | null };

/** What happened so far. */
export interface Snapshot {
  readonly kind: "watching";
  /** So much of the record tells of it. */
  readonly recordBytes: number;
  /** When the follower's first run began. */
  readonly since: number;
  /** What is still true, and not in the record. */
  readonly recent: readonly RunEvent[];
}

/** Null: it is none that this version knows. */
export function parseRequest(message: Message): Request | null {
  const { kind, jobs, machine, program, argv, env } = message;
  if (kind === "watch") return { kind };
  if (kind === "stop" && (jobs === null || isListOf(jobs, isJobId))) return { kind, jobs };
  if (kind === "retry" && isListOf(jobs, isJobId)) return { kind, jobs };
  if ((kind === "drain" || kind === "undrain") && isText(machine)) return { kind, machine };
  if (kind === "reread" && isText(program) && isListOf(argv, isText) && isTexts(env))
    return { kind, program, argv, env };
  return null;
}

/** Null: it is none that this version knows. */
export function parseAnswer(message: Message): Answer | null {
  const { kind, protocol, hint, jobs, recordBytes, since, recent, event, isNews, exitCode } = message;
  if (kind === "hello" && isNumber(protocol)) return { kind, protocol };
  if (kind === "done") return { kind };
  if (kind === "stopped" && isListOf(jobs, isStoppedJob)) return { kind, jobs };
  if (kind === "refused" && isText(message.message))
    return { kind, message: message.message, hint: isText(hint) ? hint : null };
  if (kind === "watching" && isNumber(recordBytes) && isNumber(since) && isListOf(recent, isEvent))
    return { kind, recordBytes, since, recent };
  if (kind === "event" && isEvent(event)) return { kind, event, isNews: isNews === true };
  if (kind === "end") return { kind, exitCode: isNumber(exitCode) ? exitCode : null };
  return null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function isJobId(value: unknown): value is JobId {
  return isNumber(value) && Number.isSafeInteger(value) && value > 0;
}

function isStoppedJob(value: unknown): value is StoppedJob {
  if (typeof value !== "object" || value === null) return false;
  const { job, name, machine, end } = value as Record<string, unknown>;
  return isJobId(job) && isText(name) && (machine === null || isText(machine)) && isText(end);
}

/** A follower of the same protocol says what it records: its events are taken as those of a record are. */
function isEvent(value: unknown): value is RunEvent {
  return typeof value === "object" && value !== null && "kind" in value && isText(value.kind);
}

function isListOf<T>(value: unknown, is: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(is);
}

function isTexts(value: unknown): value is Record<string, string> {
  return typeof value === "object" && value !== null && Object.values(value).every(isText);
}
