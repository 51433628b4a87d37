// Turns the lines of a machine's event logs into events of the run.

import { parseAttemptKey } from "../../model/attempt-key.js";
import type { JobStarted } from "../../model/event.js";
import { slotLog } from "../../remote/spool/follow.js";
import { footprintOf } from "../../remote/spool/footprint-facts.js";
import type { SpoolEvent } from "../../remote/spool/spool-event.js";
import type { Emit } from "../loop.js";
import type { Known } from "./known.js";
import type { MachineLink } from "./machine-link.js";
import type { OutputPoller } from "./output-poller.js";

export interface Listener {
  readonly known: Known;
  readonly link: MachineLink;
  readonly poller: OutputPoller;
  readonly emit: Emit;
}

const NONE: ReadonlyMap<string, string> = new Map();

/** `ends`: the last lines of stderr, by attempt, where they are known. */
export function tellSpoolEvent(
  { known, link, poller, emit }: Listener,
  event: SpoolEvent,
  ends: ReadonlyMap<string, string> = NONE,
): void {
  const machine = link.spec.name;
  switch (event.kind) {
    case "started": {
      const { job: id, attempt } = parseAttemptKey(event.key);
      if (!known.isUnderWay(machine, id, attempt)) return;
      poller.watch(event.key, known.job(id).name);
      const { slot, startedAt, facts } = event;
      return emit({
        kind: "job-started",
        job: id,
        attempt,
        machine,
        slot,
        ...(startedAt !== null && { startedAt }),
        ...givenOf(facts),
      });
    }
    case "ended": {
      const { job: id, attempt } = parseAttemptKey(event.key);
      if (!known.isUnderWay(machine, id, attempt)) return;
      poller.unwatch(event.key);
      const { outcome, durationMs } = event;
      const stderrTail = ends.get(event.key);
      const footprint = footprintOf(event.facts);
      const about = { job: id, attempt, machine, outcome, durationMs, ...(footprint && { footprint }) };
      return emit({ kind: "job-ended", ...about, ...(stderrTail !== undefined && { stderrTail }) });
    }
    case "waiting":
      return emit({ kind: "slot-waiting", machine, slot: event.slot, reason: event.reason });
    case "waits": {
      const { job } = parseAttemptKey(event.key);
      const reason = event.reasons.join(" ");
      return emit({ kind: "slot-waiting", machine, slot: event.slot, reason, job });
    }
    case "warned":
      return link.warnOnce(event.text, emit);
    case "unlimited":
      return link.warnOnce(`jobs run without a memory limit: ${event.reason} (--limit-memory)`, emit);
    case "halting":
      if (event.holder === link.holderPid) emit({ kind: "interrupted", mode: "stop" });
      return;
    case "draining":
      if (link.noteDraining(event.number)) emit({ kind: "machine-draining", machine });
      return;
    case "opened":
      if (link.noteOpened(event.number)) emit({ kind: "machine-opened", machine });
      return;
    case "overlong":
      return emit({
        kind: "warning",
        message: `${machine}: its event log has a line that is too long, which was skipped`,
      });
    case "added":
      return link.noteLogs([slotLog(event.added)]);
    case "idle":
    case "freed":
      return;
    default:
      return event satisfies never;
  }
}

/** The cards and named resources that a job got: `gpus=0,1` and `got=licence:0,nvme:1`. */
function givenOf(facts: ReadonlyMap<string, string>): Pick<JobStarted, "gpus" | "resources"> {
  const gpus = facts.get("gpus")?.split(",");
  const pairs = facts
    .get("got")
    ?.split(",")
    .map((pair) => pair.split(":"));
  const names = [...new Set(pairs?.map(([name = ""]) => name))];
  const instances = (name: string) => pairs?.flatMap(([each, of = ""]) => (each === name ? [of] : [])) ?? [];
  return {
    ...(gpus && { gpus }),
    ...(pairs && { resources: Object.fromEntries(names.map((name) => [name, instances(name)])) }),
  };
}
