// A Session over the system's ssh, which supports everything that a configuration may need: certificates, hardware
// keys, a ProxyCommand, Kerberos. One process without a session holds the connection. So jump hosts that allow no
// sessions work, and scripts can use all sessions that a machine allows.

import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { raceAbort } from "../aborted.js";
import { configWords } from "../config/ssh-config.js";
import type { SshTarget } from "../config/target.js";
import { deferred } from "../deferred.js";
import type { Ask } from "../login/ask-person.js";
import { entryOf } from "../trust/known-hosts-file.js";
import { explainOpenssh, tooSlow } from "./openssh-errors.js";
import { OpensshHolder } from "./openssh-holder.js";
import { isGreeting, type OpensshLog, parseOpensshLog } from "./openssh-log.js";
import { answerQuestions, type Questions } from "./openssh-questions.js";
import { OpensshSession } from "./openssh-session.js";
import { holderWords } from "./openssh-words.js";

export interface OpensshOptions {
  /** Why the system's ssh is used; null: the user asked for it. */
  readonly why: string | null;
  /** Null: there is no person to ask. */
  readonly ask: Ask | null;
  /** Reports host keys that are seen for the first time. */
  readonly onNote: (message: string) => void;
  /** The session with the last hop before the target; null: the configuration decides how to reach it. */
  readonly jump: OpensshSession | null;
  readonly homeDir: string;
}

/** From the server's greeting until the login; the time a person takes to answer does not count. */
const LOGIN_WITHIN_MS = 20_000;

/** Rejects with a ConnectError, or with the signal's reason. Makes exactly one connection. */
export async function connectOpenssh(
  target: SshTarget,
  options: OpensshOptions,
  signal?: AbortSignal,
): Promise<OpensshSession> {
  signal?.throwIfAborted();
  const dir = await mkdtemp(join(placeForSockets(tmpdir()), "sshoal-"));
  const { ask, onNote } = options;
  const questions = ask === null ? null : await answerQuestions({ dir, ask, onNote });
  const abort = raceAbort(signal);
  await makePlaceForKnownHosts(target);
  try {
    return await open(target, { ...options, dir, questions, race: abort.race });
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw error;
  } finally {
    abort.done();
    questions?.close();
  }
}

interface Opening extends OpensshOptions {
  readonly dir: string;
  readonly questions: Questions | null;
  race<T>(work: Promise<T>): Promise<T>;
}

async function open(target: SshTarget, opening: Opening): Promise<OpensshSession> {
  const { dir, questions, jump, why } = opening;
  const held = { controlPath: join(dir, "c"), destination: target.alias };
  const env = {
    ...process.env,
    LC_ALL: "C",
    ...questions?.env,
    SSH_AUTH_SOCK: target.agentSocket ?? undefined,
  };
  const words = holderWords(target, {
    held,
    jump,
    configWords: configWords(target, opening.homeDir),
    canAsk: questions !== null,
  });
  const timer = new LoginTimer(questions);
  const onLine = (line: string) => {
    if (isGreeting(line)) timer.start();
  };
  const holder = new OpensshHolder({ dir, controlPath: held.controlPath, words, env, onLine });
  try {
    await opening.race(login(holder, timer, target));
  } catch (error) {
    await holder.end("given up");
    throw error;
  } finally {
    timer.stop();
    noteNewHost(parseOpensshLog(holder.lines), target, opening.onNote);
  }
  const { login: by, hostKey } = parseOpensshLog(holder.lines);
  const via = jump === null ? target.proxyJump : [...jump.about.via, jump.destination];
  const about = { transport: "openssh", why, login: by, hostKey, via } as const;
  return new OpensshSession({ target, about, holder, dir, held, env });
}

async function login(holder: OpensshHolder, timer: LoginTimer, target: SshTarget): Promise<void> {
  const end = await Promise.race([
    holder.ready.then(() => "ready"),
    holder.gone.then(() => "gone"),
    timer.over.then(() => "too slow"),
  ]);
  if (end === "gone") throw explainOpenssh(holder.lines, target);
  if (end === "too slow") throw tooSlow(target);
}

/** A socket's path may have about 100 bytes, and ssh needs 17 of them while it creates one. */
function placeForSockets(temporary: string): string {
  return /^[\w./-]{1,60}$/.test(temporary) ? temporary : "/tmp";
}

/** ssh creates ~/.ssh only in the account's home. If that is not possible, ssh reports it. */
async function makePlaceForKnownHosts({ userKnownHosts, hostKeys }: SshTarget): Promise<void> {
  const [file] = userKnownHosts;
  if (file === undefined || hostKeys === "strict") return;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch(() => {});
}

function noteNewHost(log: OpensshLog, target: SshTarget, onNote: (message: string) => void): void {
  if (log.newHostKey === null) return;
  const [file = "/dev/null"] = target.userKnownHosts;
  const kept = log.newHostKey === "kept" ? "added to" : "could not be added to";
  const place = file === "/dev/null" ? "not stored, because there is no known_hosts file" : `${kept} ${file}`;
  onNote(`new host ${entryOf(target)}, key ${log.hostKey}: ${place}`);
}

/** Starts at `start`, and starts again while a person is being asked. */
class LoginTimer {
  readonly over: Promise<void>;
  readonly #questions: Questions | null;
  readonly #end: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(questions: Questions | null) {
    const { promise, resolve } = deferred<void>();
    this.over = promise;
    this.#end = resolve;
    this.#questions = questions;
  }

  start(): void {
    this.stop();
    this.#timer = setTimeout(
      () => (this.#questions?.isAsking() ? this.start() : this.#end()),
      LOGIN_WITHIN_MS,
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
