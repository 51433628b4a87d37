// Connects to a machine, measures its room, and resumes the batch if it has jobs of it.

import { LinkLost } from "../../fleet/link.js";
import { isRetryable, retrying, wasDropped } from "../../fleet/retrying.js";
import type { News } from "../../model/event.js";
import type { ShortKind } from "../../model/left-out.js";
import type { Capacity } from "../../model/machine.js";
import { judgeKinds, type Kinds, type KindsPlan, mustKnowCpuUse, planKinds } from "../../plan/slots/kinds.js";
import { whyNever } from "../../plan/slots/why-never.js";
import { isAtProcessLimit, PROCESS_LIMIT_HINT, RemoteError } from "../../remote/engine/remote-error.js";
import { probe } from "../../remote/probe/probe.js";
import type { Session } from "../../transport/session.js";
import type { Emit } from "../loop.js";
import type { Attendant } from "./attending.js";
import type { Known } from "./known.js";
import type { MachineLink } from "./machine-link.js";
import type { Stager } from "./staging.js";
import type { Terms } from "./terms.js";
import { warnOfLogout } from "./warn-of-logout.js";

const MEASURE_AGAIN_MS = 5000;
const LOGIN_TRIES = 3;
const VAIN_SESSIONS = 6;

export interface GreeterParts {
  readonly terms: Pick<Terms, "settings" | "kinds" | "mostJobs" | "staysOpen" | "trees" | "batch">;
  readonly known: Known;
  readonly stager: Stager;
  readonly attendant: Attendant;
}

export class Greeter {
  readonly #parts: GreeterParts;
  /** Names of the machines that were reached, by identity. */
  readonly #identities = new Map<string, string>();

  constructor(parts: GreeterParts) {
    this.#parts = parts;
  }

  /** An unreachable machine is left out, unless it may have jobs of the batch. */
  async connect(link: MachineLink, resumes: boolean, emit: Emit): Promise<void> {
    const mayBeTaken = (error: unknown, tries: number) => wasDropped(error) && tries < LOGIN_TRIES;
    try {
      await retrying(link.signal, () => open(link, emit), mayBeTaken);
    } catch (error) {
      if (!resumes || !isRetryable(error)) throw error;
      return emit({ kind: "machine-lost", machine: link.spec.name, reason: error.message });
    }
    await this.#greet(link, resumes, emit);
  }

  /** Retries until it succeeds; only an error that needs a person ends it. */
  async reconnect(link: MachineLink, resumes: boolean, emit: Emit): Promise<void> {
    await retrying(link.signal, () => open(link, emit));
    await this.#greet(link, resumes, emit);
  }

  async #greet(link: MachineLink, resumes: boolean, emit: Emit): Promise<void> {
    const { stager, attendant } = this.#parts;
    const machine = link.spec.name;
    if (link.slots !== null) {
      if (resumes) await attendant.attend(link, emit);
      return tellWhile(link, emit, { kind: "machine-back", machine });
    }
    // If the machine has an earlier client's jobs, channels may be scarce, and there may be no jobs left to give.
    if (!resumes) stager.prepare(link, emit);
    const capacity = await this.#measure(link);
    if (link.spec.spool === undefined) this.#refuseTwin(machine, capacity);
    if (resumes) await attendant.attend(link, emit);
    const plan = this.#chooseSlots(link, capacity, resumes);
    if (plan.slots.length === 0) {
      await stager.withdraw(link);
      const reason = whyNever(capacity, plan.short);
      const short = shortKinds(capacity, plan.short);
      emit({ kind: "machine-failed", machine, reason, hint: null, hasNoRoom: true, short });
      return link.close();
    }
    this.#warn(machine, capacity, emit);
    link.usesScopes = capacity.logout === "scope";
    // For handing over, following, controlling, the first results, and cleaning up.
    link.session.makeReady?.(5);
    const { slots, isFull, serves } = plan;
    const short = shortKinds(capacity, plan.short);
    const forecast = { slots, ...(isFull && { isFull }), kinds: serves, ...(short.length > 0 && { short }) };
    tellWhile(link, emit, { kind: "machine-ready", machine, capacity, ...forecast });
    link.slots = slots;
    link.capacity = capacity;
    // It has jobs of an earlier client, and can begin no other.
    if (serves.length === 0)
      emit({
        kind: "machine-refused",
        machine,
        jobs: [],
        reason: whyNever(capacity, plan.short),
        hint: null,
      });
  }

  /** Jobs of new kinds arrived: judges them by what the machine has, as it was measured. */
  judge({ spec, capacity }: MachineLink, kinds: Kinds, emit: Emit): void {
    if (capacity === null) return;
    const { requirement, placing } = this.#parts.terms.settings;
    const { serves, short: found } = judgeKinds({ spec, capacity, requirement, placing, kinds });
    const short = shortKinds(capacity, found);
    emit({ kind: "machine-serves", machine: spec.name, kinds: serves, ...(short.length > 0 && { short }) });
  }

  /** The machine gets no jobs before the working directory is read. If that takes long, the machine is measured again. */
  async #measure(link: MachineLink): Promise<Capacity> {
    const { trees, batch, kinds, mostJobs, settings } = this.#parts.terms;
    const options = { bases: ["~/.sshoal"], except: [batch, ...link.older.map((each) => each.batch)] };
    const question = { requirement: settings.requirement, kinds, spec: link.spec };
    const isQuick = !mustKnowCpuUse(question, mostJobs);
    const begunAt = performance.now();
    const capacity = await probe(link.session, { ...options, isQuick, isFirst: true }, link.signal);
    await Promise.allSettled(trees.values());
    const isRecent = performance.now() - begunAt < MEASURE_AGAIN_MS;
    // Claims of other batches are compared with the load of the cores.
    const isEnough = !isQuick || (capacity.cpus !== null && capacity.claims.length === 0);
    return isRecent && isEnough ? capacity : probe(link.session, options, link.signal);
  }

  /** Two names for one machine would share a spool and count its room twice. */
  #refuseTwin(machine: string, { identity }: Capacity): void {
    const twin = this.#identities.get(identity);
    if (twin !== undefined && twin !== machine) throw new RemoteError(`it is the same machine as ${twin}`);
    if (identity !== "") this.#identities.set(identity, machine);
  }

  /**
   * The slots of earlier jobs stay as they were, also in an older spool, because they use room that a new plan would
   * count.
   */
  #chooseSlots({ spec, pastSlots, older }: MachineLink, capacity: Capacity, resumes: boolean): KindsPlan {
    const { terms, known } = this.#parts;
    const { kinds, staysOpen } = terms;
    const { requirement, placing } = terms.settings;
    const besides = older.findLast(({ name }) => known.hasSpool(name))?.slots;
    const past = (resumes ? pastSlots : besides) ?? [];
    const question = { spec, capacity, requirement, placing, kinds, staysOpen };
    if (!resumes || !known.hasOnlyKept(spec.name)) return planKinds({ ...question, past });
    // The machine has no job. With fewer slots than before, the extra old slots would still take jobs.
    const fresh = planKinds({ ...question, past: [] });
    return fresh.slots.length < past.length ? planKinds({ ...question, past }) : fresh;
  }

  #warn(machine: string, capacity: Capacity, emit: Emit): void {
    const { terms } = this.#parts;
    if (terms.settings.requirement.gpu?.listed !== undefined && capacity.gpus.length === 0) {
      const message = `${machine}: no GPU was found; jobs use the ones in --gpus anyway`;
      emit({ kind: "warning", message });
    }
    const warning = warnOfLogout(machine, capacity);
    if (warning !== null) emit({ kind: "warning", message: warning });
  }
}

function shortKinds(capacity: Capacity, short: KindsPlan["short"]): ShortKind[] {
  return short.map((each) => ({ kind: each.kind, reason: whyNever(capacity, [each]) }));
}

function open(link: MachineLink, emit: Emit): Promise<Session> {
  const machine = link.spec.name;
  return link.open((reason) => {
    emit({ kind: "machine-lost", machine, reason });
    // The machine accepts connections, but cannot start processes. Its waiting jobs go to other machines.
    if (link.dropsInRow !== VAIN_SESSIONS || !isAtProcessLimit(reason)) return;
    emit({ kind: "machine-refused", machine, jobs: [], reason, hint: PROCESS_LIMIT_HINT });
  });
}

/** Not after the connection was lost again: otherwise the report of success would follow the report of the loss. */
function tellWhile(link: MachineLink, emit: Emit, news: News): void {
  if (link.isLost) throw new LinkLost();
  link.proveUseful();
  emit(news);
}
