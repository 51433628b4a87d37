// Puts the events of several logs, which arrive one log after the other, into the order in which they happened. Pure.

import type { SpoolEvent } from "./spool-event.js";

interface Entry {
  readonly event: SpoolEvent;
  readonly at: number;
  /** Its position among all events that arrived. */
  readonly place: number;
}

/** The events of one slot, in the order of its log. */
type Log = Entry[];

const BEFORE_ALL = Number.NEGATIVE_INFINITY;

/** Sorts slots' events by when their jobs began and ended; the order within one slot stays. */
export function inTrueOrder(events: readonly SpoolEvent[]): SpoolEvent[] {
  const [first] = events;
  if (events.length < 2 || events.every((event) => slotOf(event) === slotOf(first)))
    return withoutOldWaits(events);
  const logs = new Map<number | null, Log>();
  for (const [place, event] of withoutOldWaits(events).entries()) {
    const log = logs.get(slotOf(event)) ?? [];
    log.push({ event, at: timeOf(event, log.at(-1)?.at ?? BEFORE_ALL), place });
    logs.set(slotOf(event), log);
  }
  return merged([...logs.values()]);
}

function slotOf(event: SpoolEvent | undefined): number | null {
  return event !== undefined && "slot" in event ? event.slot : null;
}

/** `before`: the time of the slot's previous event. */
function timeOf(event: SpoolEvent, before: number): number {
  if (event.kind === "started") return event.startedAt ?? before;
  return event.kind === "ended" ? before + event.durationMs : before;
}

/** Always takes the earliest of the next events of each log. */
function merged(logs: readonly Log[]): SpoolEvent[] {
  const cursors = logs.map((log) => ({ log, next: 0 }));
  const order: SpoolEvent[] = [];
  for (;;) {
    let earliest: Entry | undefined;
    let chosen: (typeof cursors)[number] | undefined;
    for (const cursor of cursors) {
      const head = cursor.log[cursor.next];
      if (head !== undefined && isEarlier(head, earliest)) [earliest, chosen] = [head, cursor];
    }
    if (earliest === undefined || chosen === undefined) return order;
    chosen.next++;
    order.push(earliest.event);
  }
}

/** Machines count hundredths of a second. Jobs that began in the same one are in the order of their ranks. */
function isEarlier(one: Entry, other: Entry | undefined): boolean {
  if (other === undefined) return true;
  if (one.at !== other.at) return one.at < other.at;
  const isKnown = one.at !== BEFORE_ALL && one.event.kind === "started" && other.event.kind === "started";
  return isKnown ? one.event.key < other.event.key : one.place < other.place;
}

/** Why a slot waited matters only while it waits. A slot of format 3 reports one reason per kind of need. */
function withoutOldWaits(events: readonly SpoolEvent[]): SpoolEvent[] {
  const later = new Set<number>();
  return events
    .toReversed()
    .filter((event) => {
      if (!("slot" in event)) return true;
      const isWait = event.kind === "waiting" || event.kind === "waits";
      const isOld = isWait && later.has(event.slot);
      if (event.kind !== "waits") later.add(event.slot);
      return !isOld;
    })
    .reverse();
}
