// Chooses what the next attempt of a job with a kept directory starts with. That is the directory, if the machine has
// it; else the collected copy, which is sent; else only the working directory.

import { UserError } from "../../errors.js";
import { parseAttemptKey } from "../../model/attempt-key.js";
import type { JobId } from "../../model/job.js";
import type { Resumption } from "../../model/job-event.js";
import type { Layer } from "../../remote/spool/hand-over.js";
import { FileChanged } from "../../remote/tree/cargo.js";
import { stage } from "../../remote/tree/stage.js";
import { scanTree } from "../../remote/tree/tree.js";
import type { Results } from "../home/results.js";
import type { Emit } from "../loop.js";
import { isExpected } from "./expected-error.js";
import type { Known, LeftOfJob } from "./known.js";
import type { MachineLink } from "./machine-link.js";

export interface ResumerParts {
  readonly known: Known;
  readonly results: Results;
  /** The limit for a copy; null: no limit. */
  readonly maxBytes: number | null;
}

/** `how` is null for the job's first attempt. */
interface Resumed {
  readonly layers: readonly Layer[] | undefined;
  readonly how: Resumption | null;
}

const OLDER_SLOTS = "an older sshoal made the slots of its batch on the machine";

export class Resumer {
  readonly #parts: ResumerParts;
  /** Keys of attempts that were reported, because a hand-over may be repeated. */
  readonly #told = new Set<string>();

  constructor(parts: ResumerParts) {
    this.#parts = parts;
  }

  /** By key, for jobs whose directories are kept. Rejects only if the connection is lost. */
  async prepare(link: MachineLink, keys: readonly string[], emit: Emit): Promise<Map<string, Resumed>> {
    const lefts = keys.flatMap((key) => {
      const left = this.#parts.known.leftOf(link.spec.name, parseAttemptKey(key).job);
      return left === null ? [] : [{ key, left }];
    });
    const resumed = new Map<string, Resumed>();
    if (lefts.length === 0) return resumed;
    const asked = lefts.flatMap(({ left }) => left.keys);
    const found = link.hasSpool ? await (await link.control()).findKept(asked) : [];
    for (const { key, left } of lefts) resumed.set(key, await this.#resume(link, left, found, emit));
    return resumed;
  }

  /** Call it after the jobs have arrived. */
  tell(
    link: MachineLink,
    resumed: ReadonlyMap<string, Resumed>,
    arrived: readonly JobId[],
    emit: Emit,
  ): void {
    for (const [key, { how }] of resumed) {
      const about = parseAttemptKey(key);
      if (how === null || this.#told.has(key) || !arrived.includes(about.job)) continue;
      this.#told.add(key);
      emit({ kind: "job-resumes", ...about, machine: link.spec.name, ...how });
    }
  }

  /** `found`: keys of attempts whose directories exist; null: the slots on the machine could not use them. */
  async #resume(
    link: MachineLink,
    { hasRun, keys, copy }: LeftOfJob,
    found: readonly string[] | null,
    emit: Emit,
  ): Promise<Resumed> {
    if (!hasRun) return { layers: found === null ? undefined : [], how: null };
    if (found === null) return { layers: undefined, how: { from: "nothing", reason: OLDER_SLOTS } };
    const there = keys.filter((key) => found.includes(key));
    if (there.length > 0) {
      const layers = there.map((name): Layer => ({ kind: "job", name }));
      return { layers, how: { from: "machine" } };
    }
    const sent = await this.#sendCopy(link, copy, emit);
    if ("reason" in sent) return { layers: [], how: { from: "nothing", ...sent } };
    return { layers: [{ kind: "tree", name: sent.hash }], how: { from: "copy", copy: sent.copy } };
  }

  async #sendCopy(
    link: MachineLink,
    copy: string | null,
    emit: Emit,
  ): Promise<{ readonly hash: string; readonly copy: string } | { readonly reason: string }> {
    if (copy === null) return { reason: "nothing of its directory was collected" };
    const { results, maxBytes } = this.#parts;
    const machine = link.spec.name;
    if (!results.has(copy)) return { reason: `job_results/${copy} is gone` };
    try {
      const tree = await scanTree(results.pathOf(copy), ["."], { isWhole: true });
      if (tree.hash === "") return { reason: "nothing of its directory was collected" };
      if (maxBytes !== null && tree.bytes > maxBytes)
        return { reason: `job_results/${copy} is more than --max-send allows` };
      const onProgress = (sentBytes: number, totalBytes: number) =>
        emit({ kind: "staging", machine, sentBytes, totalBytes });
      await stage(link.session, { place: link.place, tree, signal: link.signal, onProgress });
      emit({ kind: "staged", machine });
      return { hash: tree.hash, copy };
    } catch (error) {
      const isOurs = error instanceof FileChanged || error instanceof UserError;
      if (link.isLost || !(isOurs || isExpected(error))) throw error;
      return { reason: `job_results/${copy} could not be sent: ${(error as Error).message}` };
    }
  }
}
