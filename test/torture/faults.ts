// Applies the faults of a round to its machines. Notes what happened to each machine, for the audit.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { commandOf, parentOf, signalAll } from "../rig/processes.js";
import { rebootHost } from "../rig/reboot-host.js";
import type { Suffering } from "./audit.js";
import type { Machine } from "./machines.js";
import type { Fault, Signal } from "./plan.js";

/** All faults except those of the client. */
type MachineFault = Exclude<Fault, { kind: "client" }>;

/** How long a signal waits for a running job. */
const BUSY_WITHIN_MS = 500;
const BETWEEN_LOOKS_MS = 20;

export interface Inflictor {
  /** Resolves with its effect, "" for nothing to report; longer effects continue in the background. */
  inflict(fault: MachineFault): Promise<string>;
  /** By the machine's name. */
  readonly suffered: ReadonlyMap<string, Suffering>;
  /** Resolves once nothing continues in the background. */
  over(): Promise<void>;
}

export function createInflictor(machines: readonly Machine[], random: () => number): Inflictor {
  const suffered = new Map(
    machines.map(({ name }) => [name, { signals: new Set<Signal>(), isBroken: false, isRebooted: false }]),
  );
  const lasting: Promise<unknown>[] = [];
  let tokens = 0;
  const inflict = async (fault: MachineFault): Promise<string> => {
    const machine = machines[fault.machine];
    const marks = machine && suffered.get(machine.name);
    if (machine === undefined || marks === undefined) throw new Error(`no machine ${fault.machine}`);
    switch (fault.kind) {
      case "cut":
      case "reboot":
        machine.relay.refuse();
        machine.relay.cut();
        if (fault.kind === "reboot") {
          marks.isRebooted = true;
          rebootHost(machine.host);
        }
        lasting.push(sleep(fault.awayMs).then(() => machine.relay.accept()));
        return "";
      case "signal": {
        if (fault.parts.includes("job")) marks.signals.add(fault.signal);
        const targets = await findTargets(machine, fault, random);
        signalAll(targets, fault.signal);
        return `hit ${targets.length}`;
      }
      case "logout": {
        marks.signals.add(fault.signal);
        await findBusySlots(machine);
        const targets = machine.host.pids();
        signalAll(targets, fault.signal);
        return `hit ${targets.length}`;
      }
      case "tool":
        marks.isBroken = true;
        for (let call = 0; call <= fault.passes; call++) {
          const way = call === fault.passes ? fault.way : "pass";
          machine.putToken(fault.tool, `${1000 + tokens++}.${way}.${fault.where}`);
        }
        return "";
      case "slow":
        machine.slowDown(fault.tool);
        return "";
      case "limit": {
        if (machine.uid === null) return "skipped: needs root";
        marks.isBroken = true;
        machine.limitProcesses(fault.spare);
        lasting.push(sleep(fault.forMs).then(() => machine.liftLimit()));
        return "";
      }
      default:
        return fault satisfies never;
    }
  };
  return {
    inflict,
    suffered,
    over: async () => {
      await Promise.all(lasting);
    },
  };
}

type SignalFault = Extract<Fault, { kind: "signal" }>;

/** Only processes of that machine, even if its files have outdated pids. */
async function findTargets(machine: Machine, fault: SignalFault, random: () => number): Promise<number[]> {
  const busy = fault.parts.includes("job") ? await findBusySlots(machine) : [];
  const slots = busy.length > 0 && !fault.isEverySlot ? busy : findSlots(machine);
  const chosen = fault.isEverySlot ? slots : slots.slice(Math.floor(random() * slots.length)).slice(0, 1);
  const alive = new Set(machine.host.pids());
  return chosen.flatMap((slot) =>
    fault.parts.flatMap((part) => {
      const pids = part === "forker" ? forkersOf(slot, alive) : pidIn(join(slot.dir, part), alive);
      return part === "job" && fault.isGroup ? pids.map((pid) => -pid) : pids;
    }),
  );
}

/**
 * Slots whose job has run for two checks, because a shorter one would end before the signal. Empty if there are none
 * for a while.
 */
async function findBusySlots(machine: Machine): Promise<Slot[]> {
  const deadline = performance.now() + BUSY_WITHIN_MS;
  for (let last = jobsThere(machine); performance.now() < deadline; ) {
    await sleep(BETWEEN_LOOKS_MS);
    const now = jobsThere(machine);
    const busy = [...now].filter(([dir, { pid }]) => last.get(dir)?.pid === pid);
    if (busy.length > 0) return busy.map(([, { slot }]) => slot);
    last = now;
  }
  return [];
}

/** By the slot's directory. */
function jobsThere(machine: Machine): Map<string, { slot: Slot; pid: number }> {
  const alive = new Set(machine.host.pids());
  return new Map(
    findSlots(machine).flatMap((slot) =>
      pidIn(join(slot.dir, "job"), alive).map((pid) => [slot.dir, { slot, pid }] as const),
    ),
  );
}

interface Slot {
  readonly spool: string;
  readonly index: string;
  readonly dir: string;
}

function findSlots({ host }: Machine): Slot[] {
  const batches = join(host.homeDir, ".sshoal/batches");
  return namesIn(batches).flatMap((batch) => {
    const spool = join(batches, batch);
    return namesIn(join(spool, "slots")).map((index) => ({ spool, index, dir: join(spool, "slots", index) }));
  });
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function pidIn(file: string, alive: ReadonlySet<number>): number[] {
  try {
    const pid = Number(readFileSync(file, "utf8").split(" ")[0]);
    return alive.has(pid) ? [pid] : [];
  } catch {
    return [];
  }
}

/** A job that it has just forked has the same command line. */
function forkersOf({ spool, index }: Slot, alive: ReadonlySet<number>): number[] {
  const words = `fork.bash\0${spool}\0${index}\0`;
  const found = [...alive].filter((pid) => commandOf(pid).includes(words));
  return found.filter((pid) => !found.includes(parentOf(pid)));
}
