// Describes what happened to the keys of a login, and what to type next (pure).

import type { SshTarget } from "../config/target.js";
import { quoteIfNeeded } from "../quote.js";
import type { KeyFile } from "./key-file.js";
import { MAX_KEYS } from "./key-offers.js";

/** Why a key stays locked. */
export type StillLocked = "no passphrase was given" | "the passphrase was wrong";
/** "accepted", but the login failed: the machine wants something in addition. */
export type KeyOutcome =
  | "not tried"
  | "refused"
  | "accepted"
  | "the agent does not sign with it"
  | StillLocked;

export interface Refusal {
  /** "does not let me in; tried: …; the machine accepts …" */
  readonly says: string;
  /** What to type next; null: no fix is known. */
  readonly hint: string | null;
}

export interface RefusalFacts {
  readonly target: SshTarget;
  readonly tried: readonly { readonly what: string; readonly outcome: KeyOutcome }[];
  readonly unusable: readonly KeyFile[];
  /** Keys of the agent that are beyond the limit. */
  readonly tooMany: number;
  /** Null: the machine has not listed them. */
  readonly takes: readonly string[] | null;
  /** True if there is a person to ask. */
  readonly canAsk: boolean;
}

export function refusalOf(facts: RefusalFacts): Refusal {
  const { target, tried, unusable, tooMany, takes } = facts;
  const each = [
    ...tried.map(({ what, outcome }) => `${what} (${OUTCOME_WORDS[outcome] ?? outcome})`),
    ...unusable.map((file) => `the key ${file.path} (${whyUnusable(file, target.agentSocket)})`),
    ...(tooMany > 0 ? [`${tooMany} more of the agent (not tried: at most ${MAX_KEYS} keys)`] : []),
  ];
  const what = each.length === 0 ? NO_KEY : `; tried: ${each.join(", ")}`;
  const taken = takes === null ? "" : `; the machine accepts ${takes.join(", ")}`;
  return { says: `does not let ${target.username} in${what}${taken}`, hint: hintOf(facts) };
}

const OUTCOME_WORDS: Partial<Record<KeyOutcome, string>> = { accepted: "accepted, but it wants more" };
const NO_KEY = ": there is no key to log in with, neither in ~/.ssh nor in an agent";

export function isStillLocked(outcome: KeyOutcome): outcome is StillLocked {
  return outcome === "no passphrase was given" || outcome === "the passphrase was wrong";
}

/** True if a key alone is not enough for the login. */
export function wantsAnswers(takes: readonly string[] | null, outcomes: readonly KeyOutcome[]): boolean {
  return takes?.includes("keyboard-interactive") === true || outcomes.includes("accepted");
}

function hintOf({ target, tried, unusable, tooMany, takes, canAsk }: RefusalFacts): string | null {
  const outcomes = tried.map(({ outcome }) => outcome);
  const takesKeys = takes?.includes("publickey") !== false;
  const wanting = unusable.find(({ kind }) => kind === "locked") ?? unusable[0];
  if (!canAsk && (outcomes.includes("accepted") || (!takesKeys && wantsAnswers(takes, outcomes))))
    return "its login asks questions: run the command in a terminal";
  if (!takesKeys) return null;
  if (wanting !== undefined) return hintForUnusable(wanting, target.agentSocket);
  if (tooMany > 0) return NAME_THE_KEY;
  if (outcomes.includes("refused") && outcomes.includes("not tried")) {
    return hintAfterHangUp(outcomes.filter((outcome) => outcome !== "not tried").length);
  }
  if (tried.length > 0) return null;
  return "name a key in the machine file, ssh_key_path: ~/.ssh/my_key, or make one: ssh-keygen -t ed25519";
}

const NAME_THE_KEY =
  "name the key: ssh_key_path in the machine file, or IdentityFile and IdentitiesOnly in the ssh configuration";

/** For a server whose MaxAuthTries is smaller than the number of keys. */
export function hintAfterHangUp(keys: number): string {
  return `it closed the connection after ${keys === 1 ? "1 key" : `${keys} keys`}; ${NAME_THE_KEY}`;
}

/** "the key /home/me/.ssh/id_rsa has a passphrase, and there is no agent" */
export function describeUnusable(file: KeyFile, agentSocket: string | null): string {
  if (file.kind === "missing") return `there is no key file ${file.path}`;
  if (file.kind === "unreadable") return `cannot use the key ${file.path}: ${file.reason}`;
  return `the key ${file.path} ${whyUnusable(file, agentSocket)}`;
}

function whyUnusable(file: KeyFile, agentSocket: string | null): string {
  switch (file.kind) {
    case "missing":
      return "does not exist";
    case "unreadable":
      return `cannot be read: ${file.reason}`;
    case "foreign":
      return file.why;
    case "public-half":
      return `is only the public half, and ${absence(agentSocket)}`;
    case "locked":
      if (file.publicKey !== null || agentSocket === null)
        return `has a passphrase, and ${absence(agentSocket)}`;
      return `has a passphrase, and without ${file.path}.pub it cannot be found in the agent`;
    case "usable":
      return "can be used";
    default:
      return file satisfies never;
  }
}

function absence(agentSocket: string | null): string {
  return agentSocket === null ? "there is no agent" : "the agent does not hold it";
}

export function hintForUnusable(file: KeyFile, agentSocket: string | null): string {
  const path = quoteIfNeeded(file.path);
  switch (file.kind) {
    case "missing":
      return "correct ssh_key_path in the machine file, or IdentityFile in the ssh configuration";
    case "unreadable":
      return `check it with OpenSSH: ssh-keygen -y -f ${path}`;
    case "foreign":
      return "remove transport: from the machine file, or set it to openssh";
    default: {
      const start = agentSocket === null ? 'eval "$(ssh-agent)"; ' : "";
      const add = `${start}ssh-add ${quoteIfNeeded(file.path.replace(/\.pub$/, ""))}`;
      const isHidden = file.kind === "locked" && file.publicKey === null;
      return isHidden ? `${add}; ssh-keygen -y -f ${path} > ${quoteIfNeeded(`${file.path}.pub`)}` : add;
    }
  }
}
