// The machines of a run: the named ones, and those of the record that still have something of the batch.

import { type Capacity, type MachineSpec, olderNames, type Slot } from "../model/machine.js";
import type { Past, RecordedMachine } from "../plan/fold/read-past.js";
import { type Place, placeOf } from "../remote/engine/layout.js";

export interface RunMachine {
  readonly spec: MachineSpec;
  /** The location of its spool. */
  readonly place: Place;
  /** It may get jobs. */
  readonly isOpen: boolean;
  /** The slots that an earlier client gave it; null: none did. */
  readonly pastSlots: readonly Slot[] | null;
  /** What an earlier client measured; null: nothing. */
  readonly pastCapacity: Capacity | null;
  /** What batches of older versions left on it, each under a name of its own. */
  readonly older: readonly OlderSlots[];
}

interface OlderSlots {
  readonly name: string;
  readonly batch: string;
  readonly slots: readonly Slot[];
}

/** Machines that were not named this time get no new jobs, but their results are collected. */
export function runMachines(
  batch: string,
  named: readonly MachineSpec[],
  past: Past | null,
): readonly RunMachine[] {
  const names = new Set(named.map(({ name }) => name));
  const others = [...(past?.machines.values() ?? [])].filter(({ name }) => !names.has(name));
  const toMachine = (spec: MachineSpec, isOpen: boolean): RunMachine => ({
    spec,
    place: placeOf(batch, spec),
    isOpen,
    pastSlots: past?.slots.get(spec.name) ?? null,
    pastCapacity: past?.capacities.get(spec.name) ?? null,
    older: olderOf(spec.name, past),
  });
  return [
    ...named.map((spec) => toMachine(spec, true)),
    ...others.map((machine) => toMachine(bareSpec(machine), false)),
  ];
}

function olderOf(machine: string, past: Past | null): OlderSlots[] {
  return olderNames(machine).flatMap((name) => {
    const spool = past?.machines.get(name)?.spool;
    return spool ? [{ name, batch: spool.batch, slots: past?.slots.get(name) ?? [] }] : [];
  });
}

function bareSpec(machine: RecordedMachine): MachineSpec {
  return {
    ...machine,
    gpus: null,
    excludeGpus: [],
    maxJobs: null,
    env: {},
    setup: [],
    hasPlainSlots: false,
    keepFree: { memoryMb: 0, cpus: 0, gpus: 0 },
  };
}
