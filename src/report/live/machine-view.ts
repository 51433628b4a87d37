// One machine as reports show it, changed in place as its events arrive.

import type { RunEvent } from "../../model/event.js";
import type { Capacity, Slot } from "../../model/machine.js";
import { noteReason, type WaitingReasons } from "../../model/waiting-reason.js";

export interface MachineView {
  readonly name: string;
  answer: MachineAnswer | null;
  /** Since when it has not answered; null if it answers. */
  quietSince: number | null;
  /** Since when the connection is lost, and why; null if it is not. */
  lostAt: number | null;
  lostBecause: string | null;
  staging: TransferView | null;
  isStaged: boolean;
  /** Results that are being collected, if the transfer is large; otherwise null. */
  collecting: TransferView | null;
  /** The machine has nothing left of this batch. */
  isDone: boolean;
  /** It was drained or set aside, and gets no more jobs. */
  isDrained: boolean;
  /** Why its waiting jobs do not start. */
  readonly held: WaitingReasons;
}

export interface TransferView {
  readonly doneBytes: number;
  /** 0: the machine already had it. */
  readonly totalBytes: number;
  /** When the first report arrived, and how much was done then. */
  readonly beganAt: number;
  readonly beganBytes: number;
  readonly at: number;
}

type MachineAnswer =
  | {
      readonly kind: "ready";
      readonly capacity: Capacity;
      readonly slots: readonly Slot[];
      /** No job fits now, and the one slot waits. */
      readonly isFull: boolean;
    }
  | { readonly kind: "failed"; readonly reason: string; readonly hasNoRoom: boolean };

type MachineEvent = Exclude<Extract<RunEvent, { readonly machine: string }>, { readonly job: number }>;

export function newMachine(name: string): MachineView {
  return {
    name,
    answer: null,
    quietSince: null,
    lostAt: null,
    lostBecause: null,
    staging: null,
    isStaged: false,
    collecting: null,
    isDone: false,
    isDrained: false,
    held: new Map(),
  };
}

export function applyToMachine(machine: MachineView, event: MachineEvent): void {
  switch (event.kind) {
    case "machine-ready":
      machine.answer = {
        kind: "ready",
        capacity: event.capacity,
        slots: event.slots,
        isFull: event.isFull === true,
      };
      machine.lostAt = null;
      machine.lostBecause = null;
      return;
    case "machine-failed":
      machine.answer = { kind: "failed", reason: event.reason, hasNoRoom: event.hasNoRoom === true };
      return;
    case "machine-lost":
      machine.lostAt ??= machine.quietSince ?? event.at;
      machine.lostBecause = event.reason;
      machine.collecting = null;
      return;
    case "machine-back":
      machine.lostAt = null;
      machine.lostBecause = null;
      return;
    case "machine-quiet":
      machine.quietSince = event.since;
      return;
    case "staging":
      machine.staging = transferOf({ ...event, doneBytes: event.sentBytes }, machine.staging);
      machine.isStaged = false;
      return;
    case "staged":
      machine.isStaged = true;
      return;
    case "slot-waiting":
      noteReason(machine.held, event);
      return;
    case "jobs-assigned":
      machine.isDone = false;
      return;
    case "collecting":
      machine.collecting = transferOf({ ...event, doneBytes: event.receivedBytes }, machine.collecting);
      return;
    case "jobs-arrived":
      machine.collecting = null;
      return;
    case "machine-set-aside":
    case "machine-draining":
      machine.isDrained = true;
      return;
    case "machine-opened":
      machine.isDrained = false;
      return;
    case "machine-refused":
    case "machine-serves":
    case "jobs-handed-over":
    case "jobs-reassigned":
    case "jobs-gone":
    case "jobs-retried":
    case "jobs-taken-back":
    case "dirs-kept":
      return;
    case "machine-done":
      machine.isDone = true;
      machine.held.clear();
      return;
    default:
      event satisfies never;
  }
}

type Told = Pick<TransferView, "doneBytes" | "totalBytes" | "at">;

function transferOf({ doneBytes, totalBytes, at }: Told, before: TransferView | null): TransferView {
  const isNew = before === null || doneBytes < before.doneBytes || doneBytes === 0;
  const { beganAt, beganBytes } = isNew ? { beganAt: at, beganBytes: doneBytes } : before;
  return { doneBytes, totalBytes, at, beganAt, beganBytes };
}
