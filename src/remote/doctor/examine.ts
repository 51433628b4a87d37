// Examines whether a machine is suitable for a batch: its tools, disks and start-up files, how many sessions it allows,
// and whether processes survive the connection. Leaves only a `sleep`, which findSurvivor ends.

import { randomBytes } from "node:crypto";
import type { Examination } from "../../model/examination.js";
import type { MachineSpec } from "../../model/machine.js";
import { NEEDED_TOOLS, USEFUL_TOOLS } from "../../model/tools.js";
import { quote } from "../../transport/quote.js";
import { runScript } from "../../transport/script/run-script.js";
import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { framedLines } from "../engine/framed-lines.js";
import { NOTE_LOGIN, rootPrelude } from "../engine/layout.js";
import { RemoteError } from "../engine/remote-error.js";
import { probe } from "../probe/probe.js";
import { runtimeFile } from "../runtime-files.js";
import { jobScript } from "../spool/job-script.js";
import { countSessions } from "./count-sessions.js";
import { type DoctorAnswer, parseDoctor, type Survivor } from "./parse-doctor.js";
import { timeStartUp } from "./time-start-up.js";

export interface FirstLook extends Pick<Examination, "startUp" | "facts" | "capacity" | "sessions"> {
  /** To be searched for on another connection. */
  readonly survivor: Survivor | null;
}

/** Throws RemoteError if the machine runs no scripts. */
export async function examine(
  session: Session,
  spec: MachineSpec,
  triesLimit: boolean,
  signal: AbortSignal,
): Promise<FirstLook> {
  const startUp = await timeStartUp(session);
  const { facts, survivor } = await readFacts(session, { spec, triesLimit }, signal);
  const capacity = await probe(session, { bases: ["~/.sshoal"] }, signal);
  const isLocal = spec.address.kind === "local";
  const sessions = isLocal ? null : await countSessions(session);
  return { startUp, facts, capacity, sessions, survivor };
}

const SETUP_SECONDS = 60;
/**
 * The time for the whole examination, and extra time for the client: a directory on a dead file server can block the
 * script itself.
 */
const ALL_SECONDS = 90;
const GRACE_SECONDS = 15;

/** Shell variables, explained in doctor.sh. */
const LIMITS = { seconds: ALL_SECONDS, setup_seconds: SETUP_SECONDS, survivor_seconds: 300 };

interface Question {
  readonly spec: MachineSpec;
  /** Whether --limit-memory would work is examined, too. */
  readonly triesLimit?: boolean;
}

async function readFacts(session: Session, question: Question, signal: AbortSignal): Promise<DoctorAnswer> {
  const nonce = `sshoal-${randomBytes(9).toString("hex")}`;
  const deadline = AbortSignal.timeout((ALL_SECONDS + GRACE_SECONDS) * 1000);
  const askedAt = Date.now();
  try {
    const script = doctorScript(nonce, question);
    const answer = await runScript(session, script, { signal: AbortSignal.any([signal, deadline]) });
    const lines = framedLines(answer, nonce, "it could not be examined");
    return parseDoctor(lines, { askedAt, answeredAt: Date.now() });
  } catch (error) {
    if (error !== deadline.reason) throw error;
    throw new RemoteError(
      `no answer within ${ALL_SECONDS + GRACE_SECONDS} s: a file server that it needs may be unreachable`,
      "in its machine file, set scratch: to a directory on a local disk",
      { cause: error },
    );
  }
}

export function doctorScript(nonce: string, { spec, triesLimit = false }: Question, limits = LIMITS): string {
  const settings = {
    nonce,
    tools: [...NEEDED_TOOLS, ...USEFUL_TOOLS.keys()].join(" "),
    job: spec.setup.length === 0 && spec.wrap === undefined ? "" : setupScript(nonce, spec),
    tries_limit: triesLimit ? "yes" : "",
    ...limits,
    // A local machine has no connection that could end.
    ...(spec.address.kind === "local" && { survivor_seconds: 0 }),
  };
  const assignments = Object.entries(settings).map(([name, value]) => `${name}=${quote(String(value))}`);
  const files = [runtimeFile("lib.sh"), runtimeFile("logout.sh"), runtimeFile("doctor.sh")];
  return [`${NOTE_LOGIN}${rootPrelude(spec.scratch)}`, ...assignments, ...files].join("\n");
}

/** A job whose command only prints which Python is active after the setup, inside the wrapper. */
function setupScript(nonce: string, spec: MachineSpec): string {
  const command = `echo; echo ${nonce} python "$(command -v python || command -v python3)"`;
  return jobScript(
    { id: 1, line: null, name: "doctor", command },
    spec,
    "doctor",
    {},
    spec.wrap && { wrap: spec.wrap },
  );
}

/**
 * Checks whether the process of an earlier connection still runs, and ends it. Waits two seconds, because it may be
 * about to be killed.
 */
export async function findSurvivor(
  session: Session,
  { pid, started, bootId }: Survivor,
  signal: AbortSignal,
): Promise<boolean> {
  const answers = await ask(session, {
    doing: "looking for a process of the last connection",
    script: `${rootPrelude(null)}
${runtimeFile("lib.sh")}
lives() {
  [ "$boot_id" = ${quote(bootId)} ] && start_of ${pid} && [ "$started" = ${started} ]
}
tries=0
while lives && [ "$tries" -lt 10 ]; do
  sleep 0.2 || sleep 1
  tries=$((tries + 1))
done
if lives; then kill ${pid} && echo survived; fi
echo done
`,
    signal,
  });
  return answers.includes("survived");
}
