// Keeps the keys that were unlocked in this command: a passphrase is asked for once, even if many machines want the
// key.

import type { ParsedKey } from "ssh2";
import type { Ask } from "./ask-person.js";
import type { LockedKeyFile } from "./key-file.js";
import type { StillLocked } from "./login-words.js";

export type Unlocked =
  | { readonly kind: "unlocked"; readonly key: ParsedKey }
  | { readonly kind: "locked"; readonly why: StillLocked };

const TRIES = 3;

export class KeyRing {
  readonly #asked = new Map<string, Promise<Unlocked>>();

  /** Machines that connect at the same time wait for the same answer; a refusal counts as an answer. */
  unlock(file: LockedKeyFile, ask: Ask): Promise<Unlocked> {
    const asked = this.#asked.get(file.path) ?? askFor(file, ask);
    this.#asked.set(file.path, asked);
    return asked;
  }
}

async function askFor(file: LockedKeyFile, ask: Ask): Promise<Unlocked> {
  const question = `Enter passphrase for key '${file.path}': `;
  for (let tries = 0; tries < TRIES; tries++) {
    const passphrase = await ask.passphrase(tries === 0 ? question : `Wrong passphrase. ${question}`);
    if (passphrase === null || passphrase === "") return { kind: "locked", why: "no passphrase was given" };
    const key = file.unlock(passphrase);
    if (key !== null) return { kind: "unlocked", key };
  }
  return { kind: "locked", why: "the passphrase was wrong" };
}
