// Learns from one machine how jobs go on that no client follows: its event logs are followed, and nothing is changed there. A lost
// link is connected again, for as long as it takes.

import { ExitCode, UserError } from "../../errors.js";
import { pause } from "../../fleet/retrying.js";
import type { RecordedMachine } from "../../plan/fold/read-past.js";
import type { Place } from "../../remote/engine/layout.js";
import { RemoteError } from "../../remote/engine/remote-error.js";
import { follow } from "../../remote/spool/follow.js";
import type { KnownLogs } from "../../remote/spool/log-stream.js";
import { takePulse } from "../../remote/spool/pulse.js";
import { readLog } from "../../remote/spool/read-log.js";
import type { SpoolEvent } from "../../remote/spool/spool-event.js";
import type { Session } from "../../transport/session.js";
import type { Connector } from "../connector.js";
import { reach, type Unreached } from "../machine/reach.js";

const LOOK_MS = 10_000;
/** Slots that have just been started, or are about to end, show no life for a moment. */
const LOOK_AGAIN_MS = 2000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** A machine that answers so often in a row that it cannot do what is asked will not do it. */
const MOST_REFUSALS = 5;

export interface MachineWatch {
  readonly machine: RecordedMachine;
  readonly place: Place;
  readonly connect: Connector;
  /** Keys of attempts that may not have arrived. */
  readonly sent: readonly string[];
  readonly onEvents: (events: readonly SpoolEvent[]) => void;
  /** These attempts are not there, and will not begin. */
  readonly onMissing: (keys: readonly string[]) => void;
  readonly onNote: (message: string) => void;
  /** Enough is known, or a client has come that knows more. */
  readonly signal: AbortSignal;
}

/**
 * "left": the signal came. "gone": the machine has nothing of the batch. "still": it has, and nothing there works on it. Throws
 * UserError when the machine does not let us in.
 */
export type MachineEnd = "left" | "gone" | "still";

export async function watchMachine(watch: MachineWatch): Promise<MachineEnd> {
  const { machine, connect, onNote, signal } = watch;
  const known: KnownLogs = new Map();
  let pauseMs = FIRST_PAUSE_MS;
  let refusals = 0;
  let isAway = false;
  for (;;) {
    const reached = await reach(
      machine,
      connect,
      (session) => {
        if (isAway) onNote(`${machine.name} can be reached again`);
        isAway = false;
        pauseMs = FIRST_PAUSE_MS;
        return attend(session, watch, known);
      },
      signal,
    );
    if (signal.aborted) return "left";
    if (reached.kind === "reached") return reached.answer;
    refusals = reached.isPassing ? 0 : refusals + 1;
    if (isForGood(reached) || refusals >= MOST_REFUSALS) throw refusedError(reached);
    // The logs may have lost lines: then all that is left in them is read anew.
    if (!reached.isPassing) known.clear();
    if (!isAway) onNote(`${machine.name} cannot be asked: ${reached.reason}; trying again`);
    isAway = true;
    await pause(pauseMs, signal);
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
}

/** There was no session, and there will be none without a person. */
function isForGood({ failure, isPassing }: Unreached): boolean {
  return failure !== null && !isPassing;
}

function refusedError({ machine, reason, hint }: Unreached): UserError {
  return new UserError(`${machine} cannot be asked: ${reason}`, {
    ...(hint !== null && { hint }),
    exitCode: ExitCode.NoMachine,
  });
}

/** Resolves when there is nothing more to learn in this session. */
async function attend(session: Session, watch: MachineWatch, known: KnownLogs): Promise<MachineEnd> {
  const { place, sent, onEvents, onMissing, signal } = watch;
  let following: Following | null = null;
  let looksWithoutLife = 0;
  try {
    for (let isFirst = true; ; isFirst = false) {
      const pulse = await takePulse(session, place, isFirst ? sent : null, signal);
      if (pulse === null) return "gone";
      if (pulse.missing.length > 0) onMissing(pulse.missing);
      looksWithoutLife = pulse.isStill ? looksWithoutLife + 1 : 0;
      if (looksWithoutLife > 1) {
        // What was written last may still be on its way.
        onEvents((await readLog(session, place, signal)) ?? []);
        return "still";
      }
      if (following?.isWithout(pulse.logs)) following.stop();
      if (following === null || following.isStopped)
        following = new Following(session, place, known, (event) => onEvents([event]));
      const again = await Promise.race([
        following.ended,
        pause(looksWithoutLife > 0 ? LOOK_AGAIN_MS : LOOK_MS, signal),
      ]);
      signal.throwIfAborted();
      if (again !== undefined) throw new RemoteError(again.reason ?? "the connection was lost");
    }
  } finally {
    following?.stop();
  }
}

/** One `tail` of the logs there are; stop() it. */
class Following {
  readonly #over = new AbortController();
  #logs: readonly string[] | null = null;
  /** Resolves when it ends without us. */
  readonly ended: Promise<{ readonly reason: string | null }>;

  constructor(session: Session, place: Place, known: KnownLogs, onEvent: (event: SpoolEvent) => void) {
    const onLogs = (names: readonly string[]) => {
      this.#logs = names;
    };
    this.ended = follow(session, { place, known, onEvent, onLogs, signal: this.#over.signal }).then(
      (reason) => ({ reason }),
      (error: Error) => ({ reason: error.message }),
    );
  }

  get isStopped(): boolean {
    return this.#over.signal.aborted;
  }

  /** One of these logs is not followed, because it was made since. */
  isWithout(names: readonly string[]): boolean {
    return this.#logs !== null && names.some((name) => !this.#logs?.includes(name));
  }

  stop(): void {
    this.#over.abort();
  }
}
