// Measures the machines of a batch for `why`, and brings the batch's state up to date on the way. Changes nothing on them.

import path from "node:path";
import type { MachineSpec } from "../../model/machine.js";
import type { MeasuredMachine } from "../../plan/why/explain-waiting.js";
import { placeOf } from "../../remote/engine/layout.js";
import { probe } from "../../remote/probe/probe.js";
import { readLog } from "../../remote/spool/read-log.js";
import type { SpoolEvent } from "../../remote/spool/spool-event.js";
import type { Session } from "../../transport/session.js";
import type { Connector } from "../connector.js";
import type { BatchHere } from "../find/batches-here.js";
import { reloadMachines } from "../find/recorded-batch.js";
import { foldLog } from "../find/refresh.js";
import { reach } from "../machine/reach.js";
import type { Surroundings } from "../surroundings.js";

export interface Measuring {
  readonly surroundings: Surroundings;
  readonly connect: Connector;
  /** When the client that follows the batch lost each machine. */
  readonly lostAt: ReadonlyMap<string, number>;
  readonly now: number;
}

/** Without the jobs that wait longer, which are known once all machines have answered. */
export async function measureMachines(here: BatchHere, measuring: Measuring): Promise<MeasuredMachine[]> {
  const recorded = [...here.machines.values()].filter(({ spool }) => spool === undefined);
  const specs = await reloadMachines(recorded, measuring.surroundings);
  return Promise.all(
    recorded.map(({ name, file }) => {
      const spec = specs.find((each) => each.name === name);
      if (spec !== undefined) return measure(spec, here, measuring);
      return { kind: "unreachable" as const, machine: name, reason: `${file} is gone`, sinceMs: null };
    }),
  );
}

async function measure(
  spec: MachineSpec,
  here: BatchHere,
  { connect, lostAt, now }: Measuring,
): Promise<MeasuredMachine> {
  const { name: machine } = spec;
  const look = async (session: Session, signal: AbortSignal) => {
    const log = (await readLog(session, placeOf(here.batch, spec), signal)) ?? [];
    // A client that follows the batch has written all this to the record.
    if (here.holder === null) foldLog(here, machine, log);
    const capacity = await probe(session, { bases: ["~/.sshoal"], wantsHolders: true }, signal);
    return { capacity, isDrained: isDrained(log) };
  };
  const reached = await reach(spec, connect, look);
  if (reached.kind === "unreached") {
    const since = lostAt.get(machine);
    return {
      kind: "unreachable",
      machine,
      reason: reached.reason,
      sinceMs: since === undefined ? null : now - since,
    };
  }
  const { capacity, isDrained: isClosed } = reached.answer;
  if (isClosed) return { kind: "drained", machine };
  return { kind: "measured", spec: { ...spec, file: shownFile(spec, here) }, capacity, earlier: [] };
}

/** As people write it. */
function shownFile({ file }: MachineSpec, { dir }: BatchHere): string | null {
  if (file === null) return null;
  const below = path.relative(dir, file);
  return below.startsWith("..") ? file : below;
}

/** Logs have no order among each other, so drains are numbered. */
export function isDrained(log: readonly SpoolEvent[]): boolean {
  let [begun, over] = [0, 0];
  for (const event of log) {
    if (event.kind === "draining") begun = Math.max(begun, event.number ?? over + 1);
    if (event.kind === "opened") over = Math.max(over, event.number ?? begun);
  }
  return begun > over;
}
