// Chooses the keys that a server is offered, in OpenSSH's order: identity files whose keys the agent has, then other
// keys of the agent, then the remaining files. Never more than a server allows.

import type { ParsedKey } from "ssh2";
import { fingerprint } from "../trust/known-hosts.js";
import type { AgentKey } from "./agent.js";
import { type KeyFile, type LockedKeyFile, parsePublicKey, publicHalfOf } from "./key-file.js";

/** sshd's MaxAuthTries. */
export const MAX_KEYS = 6;

export type KeyOffer = { readonly what: string } & (
  | { readonly by: "agent" | "file"; readonly key: ParsedKey }
  /** `key` is the public half; null: not known before it is unlocked. */
  | { readonly by: "passphrase"; readonly file: LockedKeyFile; readonly key: ParsedKey | null }
);

export interface KeyOffers {
  readonly offers: readonly KeyOffer[];
  /** Identity files that cannot be used, including missing ones. */
  readonly unusable: readonly KeyFile[];
  /** How many of the agent's keys are beyond the limit. */
  readonly tooMany: number;
}

export interface KeyOfferOptions {
  readonly identitiesOnly: boolean;
  /** True if a person can type a passphrase. */
  readonly canAsk: boolean;
}

export function orderKeys(
  identities: readonly KeyFile[],
  agentKeys: readonly AgentKey[],
  { identitiesOnly, canAsk }: KeyOfferOptions,
): KeyOffers {
  const files = identities.filter((file, at) => identities.findIndex((other) => isSame(file, other)) === at);
  const named: KeyOffer[] = [];
  const others: KeyOffer[] = [];
  for (const { key, publicKey } of agentKeys) {
    if (key === null) continue;
    const file = files.find((each) => publicHalfOf(each)?.equals(publicKey));
    if (file !== undefined) named.push({ by: "agent", what: `the key ${file.path} by the agent`, key });
    else others.push({ by: "agent", what: `the agent's key ${fingerprint(publicKey)}`, key });
  }
  const rest = files.filter((file) => !agentKeys.some((each) => publicHalfOf(file)?.equals(each.publicKey)));
  const fromFiles = rest.flatMap((file) => offerFile(file, canAsk));
  // Keys that a person named always fit; the agent's other keys get the remaining places.
  const room = Math.max(0, MAX_KEYS - named.length - fromFiles.length);
  const fromAgent = identitiesOnly ? [] : others.slice(0, room);
  return {
    offers: [...named, ...fromAgent, ...fromFiles].slice(0, MAX_KEYS),
    unusable: rest.filter((file) => offerFile(file, canAsk).length === 0),
    tooMany: identitiesOnly ? 0 : others.length - fromAgent.length,
  };
}

function isSame(one: KeyFile, other: KeyFile): boolean {
  const [half, otherHalf] = [publicHalfOf(one), publicHalfOf(other)];
  return one.path === other.path || (half !== null && otherHalf !== null && half.equals(otherHalf));
}

function offerFile(file: KeyFile, canAsk: boolean): KeyOffer[] {
  const what = `the key ${file.path}`;
  if (file.kind === "usable") return [{ by: "file", what, key: file.key }];
  if (file.kind !== "locked" || !canAsk) return [];
  const key = file.publicKey === null ? null : parsePublicKey(file.publicKey);
  return [{ by: "passphrase", what, file, key }];
}
