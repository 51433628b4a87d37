// One login in progress: offers the keys one after the other on one connection, asks for a passphrase if the machine
// wants that key, and keeps the outcome of each.

import type { AnyAuthMethod, AuthHandlerMiddleware, ParsedKey, SigningRequestOptions } from "ssh2";
import type { SshTarget } from "../config/target.js";
import { signByAgent } from "./agent.js";
import type { Ask } from "./ask-person.js";
import type { KeyOffer, KeyOffers } from "./key-offers.js";
import type { KeyRing } from "./key-ring.js";
import { isStillLocked, type KeyOutcome, type Refusal, refusalOf, wantsAnswers } from "./login-words.js";
import { OneKeyAgent } from "./one-key-agent.js";

export interface Login {
  /** ssh2's `authHandler`. */
  readonly next: AuthHandlerMiddleware;
  /** How the login may save round trips. */
  readonly shortcuts: { readonly signsAtOnce: boolean; readonly logsInAtOnce: boolean };
  /** What the machine accepted, after the login: "the key /home/me/.ssh/id_ed25519". */
  accepted(): string;
  /** Why the login failed. */
  refusal(): Refusal;
  /** True while a person is being asked: time limits do not count then. */
  isAsking(): boolean;
  /** True if the machine also accepts answers of a person, and the system's ssh can ask one. */
  wantsPerson(): boolean;
}

export interface KeyLoginOptions extends KeyOffers {
  readonly ask: Ask | null;
  readonly keys: KeyRing;
}

interface Attempt {
  readonly offer: KeyOffer;
  outcome: KeyOutcome;
}

export class KeyLogin implements Login {
  readonly #target: SshTarget;
  readonly #options: KeyLoginOptions;
  readonly #attempts: readonly Attempt[];
  readonly #left: Attempt[];
  #hasKnocked = false;
  /** The methods that the machine accepts; null: it has not listed them. */
  #takes: readonly string[] | null = null;
  #isAsking = false;
  /** The attempt with the only key, if it is a file that needs no passphrase. */
  readonly #only: Attempt | null;

  constructor(target: SshTarget, options: KeyLoginOptions) {
    this.#target = target;
    this.#options = options;
    this.#attempts = options.offers.map((offer) => ({ offer, outcome: "not tried" }));
    this.#left = [...this.#attempts];
    const [first, second] = this.#attempts;
    this.#only = first?.offer.by === "file" && second === undefined ? first : null;
  }

  readonly next: AuthHandlerMiddleware = (methodsLeft: readonly string[] | null, isPartial, done) => {
    this.#takes = methodsLeft ?? this.#takes;
    if (isPartial && this.#only !== null) this.#only.outcome = "accepted";
    // False, which the types lack, ends the login.
    void this.#choose().then((method) => done(method as AnyAuthMethod));
  };

  /**
   * A single key file is signed with at once, because a refusal costs as much as one of the question. Which signatures
   * of an RSA key the machine accepts is known only after its first answer.
   */
  get shortcuts(): Login["shortcuts"] {
    const signsAtOnce = this.#only !== null;
    return { signsAtOnce, logsInAtOnce: signsAtOnce && this.#only?.offer.key?.type !== "ssh-rsa" };
  }

  accepted(): string {
    const attempt = this.#attempts.findLast(({ outcome }) => outcome === "accepted") ?? this.#only;
    return attempt?.offer.what ?? "no key, the machine asked for none";
  }

  refusal(): Refusal {
    const tried = this.#attempts.map(({ offer, outcome }) => ({ what: offer.what, outcome }));
    const { unusable, tooMany, ask } = this.#options;
    return refusalOf({
      target: this.#target,
      tried,
      unusable,
      tooMany,
      takes: this.#takes,
      canAsk: ask !== null,
    });
  }

  isAsking(): boolean {
    return this.#isAsking;
  }

  wantsPerson(): boolean {
    const outcomes = this.#attempts.map(({ outcome }) => outcome);
    // A person who just declined to unlock a key is not asked again by another program.
    if (this.#options.ask === null || outcomes.some(isStillLocked)) return false;
    return wantsAnswers(this.#takes, outcomes);
  }

  async #choose(): Promise<AnyAuthMethod | false> {
    const { username } = this.#target;
    // A single unlocked key is offered at once: asking first which methods the machine accepts costs a round trip, and
    // asking later counts as a failure.
    const [first, second] = this.#attempts;
    const isAtHand = first?.outcome === "not tried" && first.offer.by !== "passphrase" && !second;
    if (!this.#hasKnocked && !isAtHand) {
      // As OpenSSH does: a machine may accept users by their network alone; other machines answer with the methods they
      // accept.
      this.#hasKnocked = true;
      return { type: "none", username };
    }
    if (this.#takes?.includes("publickey") === false) return false;
    for (let attempt = this.#left.shift(); attempt !== undefined; attempt = this.#left.shift()) {
      const key = attempt.offer.key ?? (await this.#privateKey(attempt));
      if (key === null) continue;
      attempt.outcome = "refused";
      if (attempt === this.#only) return { type: "publickey", username, key };
      return { type: "agent", username, agent: this.#agentFor(key, attempt) };
    }
    return false;
  }

  #agentFor(key: ParsedKey, attempt: Attempt): OneKeyAgent {
    return new OneKeyAgent(key, async (data, options) => {
      const signature = await this.#sign(attempt, data, options);
      attempt.outcome = "accepted";
      return signature;
    });
  }

  async #sign(attempt: Attempt, data: Buffer, options: SigningRequestOptions): Promise<Buffer> {
    const { offer } = attempt;
    if (offer.by === "agent") {
      attempt.outcome = "the agent does not sign with it";
      return signByAgent(this.#target.agentSocket ?? "", offer.key, data, options);
    }
    const key = await this.#privateKey(attempt);
    if (key === null) throw new Error(attempt.outcome);
    const signature: Buffer | Error = key.sign(data, options.hash);
    if (signature instanceof Error) throw signature;
    return signature;
  }

  /** Null: it stays locked. */
  async #privateKey(attempt: Attempt): Promise<ParsedKey | null> {
    const { ask, keys } = this.#options;
    const { offer } = attempt;
    if (offer.by !== "passphrase") return offer.key;
    if (ask === null) return null;
    this.#isAsking = true;
    const unlocked = await keys.unlock(offer.file, ask).finally(() => {
      this.#isAsking = false;
    });
    if (unlocked.kind === "unlocked") return unlocked.key;
    attempt.outcome = unlocked.why;
    return null;
  }
}
