// Writes what the allocator on a machine gets with a hand-over: the room of the machine, and what the jobs need.

import type { BatchSettings } from "../../model/batch.js";
import { type Job, kindOf, type Requirement } from "../../model/job.js";
import type { Capacity, MachineSpec } from "../../model/machine.js";
import { mostSlotsToCome, slotsWhenEmpty } from "../../plan/slots/slots.js";
import { formatNeed } from "../../remote/spool/need-text.js";
import { formatRoom } from "../../remote/spool/room-text.js";

export interface RoomQuestion {
  readonly spec: MachineSpec;
  readonly capacity: Capacity;
  readonly settings: BatchSettings;
  readonly batch: string;
  readonly jobs: Iterable<Job>;
  /** Jobs of other kinds may come. */
  readonly staysOpen?: boolean;
}

export interface RoomTexts {
  readonly room: string;
  /** By kind. */
  readonly needs: ReadonlyMap<string, string>;
}

export function roomTexts({
  spec,
  capacity,
  settings,
  batch,
  jobs,
  staysOpen = false,
}: RoomQuestion): RoomTexts {
  const kinds = new Map<string, Requirement>([[kindOf(undefined), settings.requirement]]);
  for (const { requirement } of jobs)
    if (requirement !== undefined) kinds.set(kindOf(requirement), requirement);
  const needs = [...kinds].map(([kind, need]) => [kind, formatNeed(kind, need, capacity)] as const);
  // Jobs of several kinds run side by side.
  let known = 0;
  for (const need of kinds.values())
    known += slotsWhenEmpty({ spec, capacity, requirement: need, staysOpen }).slots.length;
  const toCome = Math.max(known, staysOpen ? mostSlotsToCome({ spec, capacity }) : 0);
  // Each kind of need was asked alone, so the limit of the machine holds for all of them together.
  const most = Math.min(toCome, spec.mostSlots ?? toCome);
  const { placing, requirement } = settings;
  const listed = requirement.gpu?.listed;
  return {
    room: `${formatRoom({ spec, capacity, placing, batch, listed })}${loadLine(capacity)}slots ${most}\n`,
    needs: new Map(needs),
  };
}

/** In thousandths. Slots measure the load themselves, but not before they have looked twice. */
function loadLine({ cpus }: Capacity): string {
  if (cpus === null) return "cpu - -\n";
  return `cpu ${Math.round(cpus.total * 1000)} ${Math.round((cpus.total - cpus.free) * 1000)}\n`;
}
