// Gives jobs to a machine: first the tree that they start from, once, then the jobs and their slots. Jobs that do not
// arrive go to other machines.

import type { Decision } from "../../model/decision.js";
import { hasOwnFiles, type JobId, treeKeyOf } from "../../model/job.js";
import { RemoteError } from "../../remote/engine/remote-error.js";
import { handOver, NothingArrived } from "../../remote/spool/hand-over.js";
import type { Manifest } from "../../remote/spool/manifest.js";
import type { Emit } from "../loop.js";
import type { Attendant } from "./attending.js";
import { type ExpectedError, isExpected } from "./expected-error.js";
import { handedJob } from "./handed-job.js";
import { jobsOf, type Known } from "./known.js";
import type { MachineLink } from "./machine-link.js";
import type { ResultsAhead } from "./results-ahead.js";
import type { Resumer } from "./resuming.js";
import { roomTexts } from "./room-texts.js";
import type { Stager } from "./staging.js";
import { settleDoubt } from "./taking-back.js";
import type { Terms } from "./terms.js";

export interface GiverParts {
  readonly terms: Pick<Terms, "batch" | "script" | "stem" | "settings" | "env" | "jobEnv" | "staysOpen">;
  readonly known: Known;
  readonly stager: Stager;
  readonly attendant: Attendant;
  readonly resumer: Resumer;
  readonly ahead: ResultsAhead;
}

type HandOver = Extract<Decision, { kind: "hand-over" }>;

interface LeftOutJobs {
  /** The machine had no disk space for them. */
  readonly missing: readonly JobId[];
  /** They had been taken back before. */
  readonly taken: readonly JobId[];
}

interface FailedHandOver {
  readonly jobs: readonly JobId[];
  /** The jobs that may have arrived anyway. */
  readonly doubted: readonly JobId[];
  readonly error: ExpectedError;
}

export class Giver {
  readonly #parts: GiverParts;

  constructor(parts: GiverParts) {
    this.#parts = parts;
  }

  async handOver(link: MachineLink, { jobs, again = [] }: HandOver, emit: Emit): Promise<void> {
    const machine = link.spec.name;
    const losses = link.watchLosses();
    let leftOut: LeftOutJobs;
    try {
      leftOut = await this.#send(link, jobs, emit);
    } catch (error) {
      link.giveUpAhead();
      if (!isExpected(error) || (await losses.hasLost())) throw error;
      const doubted = error instanceof NothingArrived ? again : jobs;
      return this.#refuse(link, { jobs, doubted, error }, emit);
    }
    const { missing, taken } = leftOut;
    if (taken.length > 0) emit({ kind: "jobs-taken-back", machine, jobs: taken, begun: [] });
    await this.#attend(link, emit);
    if (missing.length === 0) return;
    const doubted = missing.filter((id) => again.includes(id));
    const error = new RemoteError("there was no room for them");
    await this.#refuse(link, { jobs: missing, doubted, error }, emit);
  }

  /** Resolves with the jobs that were not accepted; rejects as the remote verb does. */
  async #send(link: MachineLink, ids: readonly JobId[], emit: Emit): Promise<LeftOutJobs> {
    const { settings, batch, staysOpen } = this.#parts.terms;
    const { copiesUnchanged, timeoutSeconds, inPlace } = settings;
    const { spec, place, signal, isFurnished, usesScopes, capacity } = link;
    if (capacity === null) throw new Error(`${spec.name} gets jobs before it was measured`);
    const { hasPlainSlots } = spec;
    const manifest = this.#manifest(link, ids);
    const { tree, carried, key } = await this.#treeFor(link, manifest, emit);
    const resumed = await this.#parts.resumer.prepare(link, [...manifest.jobs.keys()], emit);
    const jobs = [...manifest.jobs].map(([key, job]) =>
      handedJob({ key, job, spec, terms: this.#parts.terms, layers: resumed.get(key)?.layers }),
    );
    const arriving = handOver(link.session, {
      place,
      tree,
      carried,
      ...roomTexts({ spec, capacity, settings, batch, staysOpen, jobs: manifest.jobs.values() }),
      settings: { copiesUnchanged, timeoutSeconds, inPlace, usesScopes, hasPlainSlots },
      slots: manifest.slots.length,
      isFurnished,
      jobs,
      manifest,
      signal,
    });
    // At the same time, so that news of short jobs arrives with the answer.
    this.#parts.attendant.follow(link, emit, true);
    this.#parts.attendant.holdAhead(link);
    this.#parts.ahead.request(link, [...manifest.jobs.keys()]);
    const leftOut = await arriving;
    const [missing, taken] = [jobsOf(leftOut.missing), jobsOf(leftOut.taken)];
    link.noteSpool(true);
    link.isFurnished = true;
    const { hadTree } = leftOut;
    if (tree !== null && carried !== null) this.#parts.stager.noteCarried(link, key, { tree, hadTree }, emit);
    const arrived = ids.filter((id) => !missing.includes(id) && !taken.includes(id));
    emit({ kind: "jobs-handed-over", machine: spec.name, jobs: arrived });
    this.#parts.resumer.tell(link, resumed, arrived, emit);
    return { missing, taken };
  }

  /** Null: these jobs run in place. All jobs of one hand-over start from the same tree. */
  async #treeFor(link: MachineLink, { jobs, settings }: Manifest, emit: Emit) {
    const [first] = jobs.values();
    const key = treeKeyOf(first ?? {});
    const { tree, carried } = await this.#parts.stager.provide(link, key, emit).catch(failBefore);
    const isInPlace = settings.inPlace !== null && !hasOwnFiles(first ?? {});
    return { tree: isInPlace ? null : tree, carried, key };
  }

  #manifest({ spec, slots }: MachineLink, ids: readonly JobId[]): Manifest {
    const { terms, known } = this.#parts;
    const keys = known.keys(spec.name, ids);
    const jobs = new Map(keys.map((key) => [key, known.jobOfKey(key)]));
    const { script, stem, settings } = terms;
    return { script, stem, settings, slots: slots ?? [], jobs };
  }

  /** Jobs that did not arrive go to other machines. Begun jobs stay, and jobs that may have arrived are taken back first. */
  async #refuse(link: MachineLink, { jobs, doubted, error }: FailedHandOver, emit: Emit): Promise<void> {
    const machine = link.spec.name;
    const settling = { jobs: doubted, error, emit };
    const { taken, begun } =
      doubted.length === 0 ? { taken: [], begun: [] } : await settleDoubt(this.#parts.known, link, settling);
    const absent = [...jobs.filter((id) => !doubted.includes(id)), ...taken];
    emit({ kind: "machine-refused", machine, jobs: absent, reason: error.message, hint: error.hint });
    // The next client forgets the record's events about a machine, but not those about jobs.
    emit({ kind: "jobs-taken-back", machine, jobs: absent, begun });
    if (begun.length === 0) return;
    link.noteSpool(true);
    emit({ kind: "jobs-handed-over", machine, jobs: begun });
    await this.#attend(link, emit);
  }

  async #attend(link: MachineLink, emit: Emit): Promise<void> {
    this.#parts.attendant.follow(link, emit);
    await this.#parts.attendant.hold(link);
  }
}

/** No job is sent without the working directory. */
function failBefore(error: unknown): never {
  throw isExpected(error) ? new NothingArrived(error.message, error.hint) : error;
}
