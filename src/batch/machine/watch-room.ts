// Looks at machines again and again, each over one connection: for `top`. Leaves nothing on them.

import { pause } from "../../fleet/retrying.js";
import type { Capacity } from "../../model/machine.js";
import type { RoomLook } from "../../model/room-look.js";
import { probe } from "../../remote/probe/probe.js";
import type { Session } from "../../transport/session.js";
import { placesOf } from "../clean/clean-places.js";
import type { Connector } from "../connector.js";
import type { BatchHere } from "../find/batches-here.js";
import { type ReachedMachine, reach, type Unreached } from "./reach.js";

export interface RoomWatch {
  readonly machines: readonly ReachedMachine[];
  readonly connect: Connector;
  readonly now: () => number;
  /** Called with each look at a machine. */
  readonly onLook: (look: RoomLook) => void;
}

/** Between the end of a look and the next one. */
const REST_MS = 2000;
const LONGEST_REST_MS = 10_000;

/** Resolves once the signal aborts. */
export async function watchRoom(watch: RoomWatch, signal: AbortSignal): Promise<void> {
  await Promise.all(watch.machines.map((machine) => watchMachine(machine, watch, signal)));
}

/** One look at each machine. */
export function lookAtRoom({ machines, connect, now }: Omit<RoomWatch, "onLook">): Promise<RoomLook[]> {
  return Promise.all(
    machines.map(async (machine) => {
      const reached = await reach(machine, connect, lookOnce);
      if (reached.kind === "unreached") return unreachable(reached, null, false);
      return { machine: machine.name, kind: "seen" as const, capacity: reached.answer, at: now() };
    }),
  );
}

/** The machines of this directory's batches, each once; without any batch, this computer. */
export function machinesOf(batches: readonly BatchHere[]): ReachedMachine[] {
  const byAddress = new Map(placesOf(batches).map((each) => [JSON.stringify(each.address), each]));
  return [...byAddress.values()];
}

async function watchMachine(machine: ReachedMachine, watch: RoomWatch, signal: AbortSignal): Promise<void> {
  const { connect, now, onLook } = watch;
  let lostAt = now();
  let restMs = REST_MS;
  const look = async (session: Session, own: AbortSignal): Promise<never> => {
    for (;;) {
      const capacity = await lookOnce(session, own);
      lostAt = now();
      restMs = REST_MS;
      onLook({ machine: machine.name, kind: "seen", capacity, at: lostAt });
      await pause(REST_MS, own);
    }
  };
  for (;;) {
    const reached = await reach(machine, connect, look, signal);
    if (signal.aborted || reached.kind === "reached") return;
    // A refused login stays refused, and asking again may lock the account.
    const isRetried = reached.isPassing || reached.failure === null;
    onLook(unreachable(reached, lostAt, isRetried));
    if (!isRetried) return;
    await pause(restMs, signal).catch(() => {});
    restMs = Math.min(restMs * 2, LONGEST_REST_MS);
  }
}

function lookOnce(session: Session, signal: AbortSignal): Promise<Capacity> {
  return probe(session, { bases: ["~/.sshoal"], wantsHolders: true }, signal);
}

function unreachable(
  { machine, reason, hint }: Unreached,
  since: number | null,
  isRetried: boolean,
): RoomLook {
  return { machine, kind: "unreachable", reason, hint, since, isRetried };
}
