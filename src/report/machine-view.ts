// One machine as people see it, changed in place as its events arrive.

import type { RunEvent } from "../model/event.js";
import type { Slot } from "../model/machine.js";

export interface MachineView {
  readonly name: string;
  answer: MachineAnswer | null;
  /** Why the link is gone, while it is. */
  lostBecause: string | null;
  staging: StagingView | null;
  isStaged: boolean;
  /** Nothing of this batch is left there. */
  isDone: boolean;
  /** Lines of the jobs that are there: queued, running, or not yet collected. */
  readonly jobs: Set<number>;
  /** Slot to the line of the job in it. */
  readonly busy: Map<number, number>;
  /** Slot to why it takes no job for now. */
  readonly held: Map<number, string>;
}

export interface StagingView {
  readonly sentBytes: number;
  /** 0: it was there already. */
  readonly totalBytes: number;
  /** When the first of these bytes was to be sent, and when this was told. */
  readonly beganAt: number;
  readonly at: number;
}

type MachineAnswer =
  | { readonly kind: "ready"; readonly slots: readonly Slot[] }
  | { readonly kind: "failed"; readonly reason: string };

type MachineEvent = Exclude<Extract<RunEvent, { readonly machine: string }>, { readonly line: number }>;

export function newMachine(name: string): MachineView {
  return {
    name,
    answer: null,
    lostBecause: null,
    staging: null,
    isStaged: false,
    isDone: false,
    jobs: new Set(),
    busy: new Map(),
    held: new Map(),
  };
}

export function applyToMachine(machine: MachineView, event: MachineEvent): void {
  switch (event.kind) {
    case "machine-ready":
      machine.answer = { kind: "ready", slots: event.slots };
      machine.lostBecause = null;
      return;
    case "machine-failed":
      machine.answer = { kind: "failed", reason: event.reason };
      return;
    case "machine-lost":
      machine.lostBecause = event.reason;
      return;
    case "machine-back":
      machine.lostBecause = null;
      return;
    case "staging":
      machine.staging = stagingOf(event, machine.staging);
      machine.isStaged = false;
      return;
    case "staged":
      machine.isStaged = true;
      return;
    case "slot-waiting":
      machine.held.set(event.slot, event.reason);
      return;
    case "jobs-assigned":
      machine.isDone = false;
      return;
    case "jobs-handed-over":
      for (const line of event.lines) machine.jobs.add(line);
      return;
    case "jobs-arrived":
      return;
    case "machine-draining":
    case "machine-opened":
    case "jobs-retried":
      return;
    case "machine-refused":
    case "jobs-reassigned":
    case "jobs-taken-back":
      for (const line of event.lines) machine.jobs.delete(line);
      return;
    case "machine-done":
      machine.isDone = true;
      machine.held.clear();
      return;
    default:
      event satisfies never;
  }
}

function stagingOf(event: Extract<RunEvent, { kind: "staging" }>, before: StagingView | null): StagingView {
  const { sentBytes, totalBytes, at } = event;
  const isNew = before === null || sentBytes < before.sentBytes || sentBytes === 0;
  return { sentBytes, totalBytes, at, beganAt: isNew ? at : before.beganAt };
}
