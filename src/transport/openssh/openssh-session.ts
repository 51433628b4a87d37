// A Session over the system's ssh: one process holds the connection, and one more per script uses it.

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pLimit, { type LimitFunction } from "p-limit";
import { describeTarget, type SshTarget, sshCommand } from "../config/target.js";
import { ConnectError } from "../connect-error.js";
import { deferred } from "../deferred.js";
import { lostRunning } from "../script/lost-running.js";
import { startScript } from "../script/start-script.js";
import type { About, Running, Session } from "../session.js";
import { type OpensshChannel, openChannel } from "./openssh-channel.js";
import type { OpensshHolder } from "./openssh-holder.js";
import type { Held } from "./openssh-words.js";

/** Stock sshd allows ten sessions per connection, and counts an ended one for a moment longer. */
const MAX_CHANNELS = 8;
const OPEN_WITHIN_MS = 10_000;
const FIRST_BACKOFF_MS = 20;
const LAST_BACKOFF_MS = 320;
/** How long to wait for the reason after the socket was found gone. */
const GONE_WITHIN_MS = 1000;

export interface OpensshSessionOptions {
  readonly target: SshTarget;
  readonly about: About;
  readonly holder: OpensshHolder;
  readonly dir: string;
  readonly held: Held;
  readonly env: NodeJS.ProcessEnv;
}

/** Owns the process that holds the connection. */
export class OpensshSession implements Session, Held {
  readonly about: About;
  readonly gone: Promise<string>;
  readonly controlPath: string;
  readonly destination: string;
  readonly #options: OpensshSessionOptions;
  readonly #limit: LimitFunction = pLimit(MAX_CHANNELS);
  readonly #channels = new Set<OpensshChannel>();
  #goneReason: string | null = null;
  #opened = 0;

  constructor(options: OpensshSessionOptions) {
    this.#options = options;
    this.about = options.about;
    this.controlPath = options.held.controlPath;
    this.destination = options.held.destination;
    this.gone = options.holder.gone.then((reason) => {
      this.#goneReason ??= reason;
      for (const channel of this.#channels) channel.lose(this.#goneReason);
      return this.#goneReason;
    });
  }

  exec(script: string): Promise<Running> {
    const opened = deferred<Running>();
    this.#limit(() => this.#openAndHold(script, opened.resolve)).catch(opened.reject);
    return opened.promise;
  }

  async close(): Promise<void> {
    this.#goneReason ??= "closed on this side";
    for (const channel of this.#channels) channel.running.close();
    await this.#options.holder.end(this.#goneReason);
    await this.gone;
  }

  /** Settles when the channel is closed, because until then it counts as one of the MAX_CHANNELS. */
  async #openAndHold(script: string, onOpen: (running: Running) => void): Promise<void> {
    const deadline = performance.now() + OPEN_WITHIN_MS;
    for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs = Math.min(2 * backoffMs, LAST_BACKOFF_MS)) {
      if (this.#goneReason !== null) return onOpen(lostRunning(this.#goneReason));
      const refusal = await this.#tryOpen(script, onOpen);
      if (refusal === null) return;
      if (!isForNow(refusal) || performance.now() > deadline) throw this.#refused(refusal);
      await sleep(backoffMs * (0.5 + Math.random()));
    }
  }

  /** Null if it was opened, once it is closed; otherwise the reason why it was not. */
  async #tryOpen(script: string, onOpen: (running: Running) => void): Promise<string | null> {
    const { held, dir, env } = this.#options;
    const logFile = join(dir, `log.${this.#opened++}`);
    const channel = openChannel({ held, env, logFile, whyGone: () => this.#whyGone() });
    this.#channels.add(channel);
    const running = startScript(channel.running, script);
    try {
      const refusal = await channel.refusal;
      if (refusal === null) onOpen(running);
      await channel.closed;
      return refusal;
    } finally {
      this.#channels.delete(channel);
    }
  }

  async #whyGone(): Promise<string> {
    const isGone = await Promise.race([
      this.gone.then(() => true),
      sleep(GONE_WITHIN_MS, false, { ref: false }),
    ]);
    if (!isGone) await this.#options.holder.end("the socket of its ssh process was removed");
    return this.gone;
  }

  #refused(says: string): ConnectError {
    const { target } = this.#options;
    const what = isForNow(says)
      ? "allows no further session on this connection (MaxSessions in its sshd_config)"
      : `does not run commands: ${says}`;
    return new ConnectError("no-session", `${describeTarget(target)}: ${what}`, {
      hint: `try it yourself: ${sshCommand(target)} true`,
    });
  }
}

function isForNow(refusal: string): boolean {
  return refusal.includes("Session open refused by peer");
}
