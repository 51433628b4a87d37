// A job that ran out of memory runs once more with a larger need (--retry-on-oom): finds that need, and the machines that serve it.

import { type JobId, kindOf, type Requirement } from "../../model/job.js";
import { growNeed, type Offer } from "../../plan/grow-need.js";
import type { Emit } from "../loop.js";
import type { Greeter } from "./greeting.js";
import type { Known } from "./known.js";
import type { MachineLink } from "./machine-link.js";
import type { Terms } from "./terms.js";

export interface GrowerParts {
  readonly terms: Pick<Terms, "settings">;
  /** The kinds of `terms`, which grow with the jobs. */
  readonly kinds: Map<string, Requirement | undefined>;
  readonly known: Known;
  readonly links: ReadonlyMap<string, MachineLink>;
  readonly greeter: Greeter;
}

export class Grower {
  readonly #parts: GrowerParts;

  constructor(parts: GrowerParts) {
    this.#parts = parts;
  }

  /** Returns false if the job need not grow, or has grown. */
  grow(id: JobId, emit: Emit): boolean {
    const { terms, known } = this.#parts;
    const outgrown = known.outgrown(id);
    if (outgrown === null) return false;
    const { attempt, own, outcome, machine, footprint } = outgrown;
    const before = own ?? terms.settings.requirement;
    const need = growNeed(
      { requirement: before, outcome, footprint, machine },
      this.#offers(),
      terms.settings.placing,
    );
    if (need.requirement !== null) this.#introduce(need.requirement, emit);
    emit({ kind: "job-grown", job: id, attempt, machine, outcome, before, ...need });
    return true;
  }

  /** Machines that this client has not measured are judged by what an earlier one measured. */
  #offers(): Offer[] {
    const { links, known } = this.#parts;
    return [...links.values()].flatMap(({ spec, capacity, pastCapacity }) => {
      const measured = capacity ?? pastCapacity;
      return measured !== null && known.mayGetJobs(spec.name) ? [{ spec, capacity: measured }] : [];
    });
  }

  #introduce(requirement: Requirement, emit: Emit): void {
    const { kinds, links, greeter } = this.#parts;
    const kind = kindOf(requirement);
    if (kinds.has(kind)) return;
    kinds.set(kind, requirement);
    for (const link of links.values()) greeter.judge(link, new Map([[kind, requirement]]), emit);
  }
}
