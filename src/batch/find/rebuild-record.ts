// Makes the record of a batch that was started on another computer from what its machines have. From then on this
// computer can follow it.

import path from "node:path";
import { UserError } from "../../errors.js";
import { parseAttemptKey } from "../../model/attempt-key.js";
import type { RunEvent } from "../../model/event.js";
import type { Job } from "../../model/job.js";
import { type MachineSpec, type OlderSpool, olderName, SPOOL_FORMAT } from "../../model/machine.js";
import { VERSION } from "../../model/version.js";
import { probe } from "../../remote/probe/probe.js";
import { footprintOf } from "../../remote/spool/footprint-facts.js";
import { type Manifest, readManifest } from "../../remote/spool/manifest.js";
import { readLog } from "../../remote/spool/read-log.js";
import type { SpoolEvent } from "../../remote/spool/spool-event.js";
import { readSpoolFormat } from "../../remote/spool/spool-format.js";
import { RunRecord } from "../../run/home/record.js";
import type { Results } from "../../run/home/results.js";
import type { Connector } from "../connector.js";
import { reach } from "../machine/reach.js";

interface Found {
  readonly spec: MachineSpec;
  /** The machine's name in the record. */
  readonly machine: string;
  /** Null: its spool has the current format. */
  readonly older: OlderSpool | null;
  readonly manifest: Manifest;
  readonly log: readonly SpoolEvent[];
  readonly capacity: Awaited<ReturnType<typeof probe>>;
}

export interface Rebuilding {
  readonly batch: string;
  readonly machines: readonly MachineSpec[];
  readonly results: Results;
  readonly connect: Connector;
}

/** Throws UserError if none of the machines has the batch. */
export async function rebuildRecord({ batch, machines, results, connect }: Rebuilding): Promise<void> {
  const looks = await Promise.all(
    machines.map((spec) =>
      reach(spec, connect, async (session, signal): Promise<Found | null> => {
        const place = { batch, scratch: spec.scratch };
        const format = await readSpoolFormat(session, place, signal);
        const manifest = await readManifest(session, place, signal);
        const log = await readLog(session, place, signal);
        const capacity = await probe(session, { bases: ["~/.sshoal"], except: [batch] }, signal);
        if (format === null || manifest === null || log === null) return null;
        const older = format < SPOOL_FORMAT ? { batch, format } : null;
        return {
          spec,
          machine: older === null ? spec.name : olderName(spec.name),
          older,
          manifest,
          log,
          capacity,
        };
      }),
    ),
  );
  const unreached = looks.find((look) => look.kind === "unreached");
  if (unreached !== undefined) {
    const { machine, failure, reason } = unreached;
    throw new UserError(`${failure === null ? machine : `${machine} cannot be reached`}: ${reason}`, {
      ...(unreached.hint !== null && { hint: unreached.hint }),
    });
  }
  const found = looks.flatMap((look) =>
    look.kind === "reached" && look.answer !== null ? [look.answer] : [],
  );
  if (found.length === 0) {
    throw new UserError(`${machines.map(({ name }) => name).join(", ")}: no batch ${batch} found`, {
      hint: "sshoal clean --dry-run --machines … lists the batches of a machine",
    });
  }
  const events = recordOf(batch, found);
  const record = new RunRecord(path.join(results.privateDir, `${stemOf(found)}.jsonl`));
  record.append(events);
  record.close();
}

/** Older versions named every job for its number. */
function stemOf(found: readonly Found[]): string {
  const [first] = found.map(({ manifest }) => manifest);
  const [job] = first?.jobs.values() ?? [];
  return first?.stem ?? (job?.name ?? "").replace(/\.\d+$/, "");
}

/** Pure: what a client that handed these jobs over would have recorded. */
function recordOf(batch: string, found: readonly Found[]): RunEvent[] {
  const at = firstStart(found, Date.now());
  const holders = latestHolders(found);
  const jobs = new Map<number, Job>();
  for (const { manifest } of found) for (const job of manifest.jobs.values()) jobs.set(job.id, job);
  const [first] = found;
  if (first === undefined) return [];
  const machines = found.flatMap(({ spec: { name, address, scratch, file }, machine, older }) => {
    const recorded = { name, address, scratch, file };
    return older === null ? [recorded] : [recorded, { ...recorded, name: machine, spool: older }];
  });
  const { script, settings } = first.manifest;
  const sorted = [...jobs.values()].sort((a, b) => a.id - b.id);
  return [
    {
      kind: "run-started",
      sshoal: VERSION,
      spoolFormat: SPOOL_FORMAT,
      batch,
      script,
      settings,
      jobs: sorted,
      machines,
      at,
    },
    ...found.flatMap(({ machine, manifest, capacity }): RunEvent[] => {
      const held = [...holders].filter(([, holder]) => holder.machine === machine);
      return [
        { kind: "machine-ready", machine, capacity, slots: manifest.slots, at },
        // An attempt's number is the count of its assignments.
        ...held.flatMap(([id, { attempt }]) =>
          Array.from(
            { length: attempt },
            (): RunEvent => ({ kind: "jobs-assigned", machine, jobs: [id], at }),
          ),
        ),
        { kind: "jobs-handed-over", machine, jobs: held.map(([id]) => id), at },
      ];
    }),
    ...collectedElsewhere(found, holders, at),
  ];
}

/** When the first known job began; else now. */
function firstStart(found: readonly Found[], now: number): number {
  let first = now;
  for (const { log } of found)
    for (const event of log) if (event.kind === "started") first = Math.min(first, event.startedAt ?? now);
  return first;
}

interface Holder {
  readonly machine: string;
  readonly attempt: number;
}

/** The last attempt of each job. */
function latestHolders(found: readonly Found[]): Map<number, Holder> {
  const holders = new Map<number, Holder>();
  for (const { machine, manifest } of found) {
    for (const key of manifest.jobs.keys()) {
      const { job: id, attempt } = parseAttemptKey(key);
      if (attempt > (holders.get(id)?.attempt ?? 0)) holders.set(id, { machine, attempt });
    }
  }
  return holders;
}

/** Freed on the machine: another computer has these results. */
function collectedElsewhere(
  found: readonly Found[],
  holders: ReadonlyMap<number, Holder>,
  at: number,
): RunEvent[] {
  return found.flatMap(({ machine, log }) => {
    const starts = new Map(
      log.flatMap((event) => (event.kind === "started" ? [[event.key, event.startedAt] as const] : [])),
    );
    const freed = new Set(log.flatMap((event) => (event.kind === "freed" ? [event.key] : [])));
    return log.flatMap((event): RunEvent[] => {
      if (event.kind !== "ended" || !freed.has(event.key)) return [];
      const { job: id, attempt } = parseAttemptKey(event.key);
      if (holders.get(id)?.attempt !== attempt) return [];
      const { slot, durationMs, outcome } = event;
      const footprint = footprintOf(event.facts);
      const startedAt = starts.get(event.key) ?? null;
      const about = { job: id, attempt, machine, at: startedAt === null ? at : startedAt + durationMs };
      return [
        ...(startedAt === null ? [] : [{ kind: "job-started", slot, startedAt, ...about } as const]),
        { kind: "job-ended", durationMs, outcome, ...(footprint && { footprint }), ...about },
        { kind: "job-collected", outcome, files: 0, bytes: 0, ...about },
      ];
    });
  });
}
