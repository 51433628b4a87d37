// The messages between the client that follows a batch and the clients that ask it. This file checks everything that
// arrives over the socket before it is used.

import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import type { Message } from "../../socket/json-channel.js";
import type { StoppedJob } from "../stop/stop-jobs.js";

/** The version of the messages. Clients with different versions do not talk to each other. */
export const PROTOCOL = 1;

export type Request =
  /** Past events, and new ones from now on. */
  | { readonly kind: "watch" }
  /** Null: all jobs. */
  | { readonly kind: "stop"; readonly jobs: readonly JobId[] | null }
  | { readonly kind: "retry"; readonly jobs: readonly JobId[] }
  | { readonly kind: "drain" | "undrain"; readonly machine: string }
  | ({ readonly kind: "reread" } & Typed);

/** A command that asks for a batch, as typed. */
export interface Typed {
  readonly program: string;
  readonly argv: readonly string[];
  /** Variables from the shell in which it was typed. */
  readonly env: Readonly<Record<string, string>>;
}

export type Answer =
  | { readonly kind: "hello"; readonly protocol: number }
  /** The request is done, or begun if it takes time. */
  | { readonly kind: "done" }
  /** What happened to the jobs that were to be stopped. */
  | { readonly kind: "stopped"; readonly jobs: readonly StoppedJob[] }
  | { readonly kind: "refused"; readonly message: string; readonly hint: string | null }
  | Snapshot
  | { readonly kind: "event"; readonly event: RunEvent; readonly isNews: boolean }
  /** The follower ends. Null: it leaves the batch, which continues. */
  | { readonly kind: "end"; readonly exitCode: number | null };

/** The events so far. */
export interface Snapshot {
  readonly kind: "watching";
  /** How much of the record describes them. */
  readonly recordBytes: number;
  /** When the follower's first run began. */
  readonly since: number;
  /** Facts that are still true and not in the record. */
  readonly recent: readonly RunEvent[];
}

/** Null: this version does not know it. */
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

/** Null: this version does not know it. */
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

/** A follower with the same protocol sends the events it records: they are trusted like a record. */
function isEvent(value: unknown): value is RunEvent {
  return typeof value === "object" && value !== null && "kind" in value && isText(value.kind);
}

function isListOf<T>(value: unknown, is: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(is);
}

function isTexts(value: unknown): value is Record<string, string> {
  return typeof value === "object" && value !== null && Object.values(value).every(isText);
}
