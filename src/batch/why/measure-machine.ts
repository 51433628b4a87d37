// Measures one machine of a batch for `why`. Changes nothing on it.

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
import { foldLog } from "../find/refresh.js";
import { reach } from "../machine/reach.js";

export interface Measuring {
  readonly connect: Connector;
  /** When the client that follows the batch lost each machine. */
  readonly lostAt: ReadonlyMap<string, number>;
  readonly now: number;
}

type MeasuredBatch = Pick<BatchHere, "batch" | "dir" | "state" | "holder">;

/** Brings the state of the batch up to date on the way, if no client follows it. */
export async function measureMachine(
  spec: MachineSpec,
  here: MeasuredBatch,
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
function shownFile({ file }: MachineSpec, { dir }: MeasuredBatch): string | null {
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
