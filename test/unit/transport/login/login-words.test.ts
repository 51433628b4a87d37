import { describe, expect, test } from "vitest";
import type { KeyFile } from "../../../../src/transport/login/key-file.js";
import {
  hintForUnusable,
  type RefusalFacts,
  refusalOf,
} from "../../../../src/transport/login/login-words.js";
import { aTarget } from "../a-target.js";

function refuse(facts: Partial<RefusalFacts>) {
  return refusalOf({
    target: aTarget(),
    tried: [],
    unusable: [],
    tooMany: 0,
    takes: null,
    canAsk: false,
    ...facts,
  });
}

function locked(path: string, publicKey: Buffer | null = Buffer.from("half")): KeyFile {
  return { kind: "locked", path, publicKey, unlock: () => null };
}

test("each key that was tried is named, with why it failed", () => {
  const { says, hint } = refuse({
    target: aTarget({ agentSocket: "/agent" }),
    tried: [
      { what: "the agent's key SHA256:abc", outcome: "refused" },
      { what: "the key /k/id_rsa", outcome: "the passphrase was wrong" },
    ],
    unusable: [locked("/k/my key"), { kind: "missing", path: "/k/gone" }],
    tooMany: 2,
    takes: ["publickey", "password"],
  });
  expect(says).toBe(
    "does not let me in; tried: the agent's key SHA256:abc (refused), the key /k/id_rsa (the passphrase was wrong), " +
      "the key /k/my key (has a passphrase, and the agent does not hold it), the key /k/gone (does not exist), " +
      "2 more of the agent (not tried: at most 6 keys); the machine accepts publickey, password",
  );
  expect(hint).toBe("ssh-add '/k/my key'");
});

describe("what to type next", () => {
  const tried = [{ what: "the key /k", outcome: "refused" as const }];

  test("without any key", () => {
    const { says, hint } = refuse({ takes: ["publickey"] });
    expect(says).toBe(
      "does not let me in: there is no key to log in with, neither in ~/.ssh nor in an agent; the machine accepts publickey",
    );
    expect(hint).toContain("ssh-keygen -t ed25519");
  });

  test("with too many keys", () => {
    expect(refuse({ tried, tooMany: 1 }).hint).toContain("IdentitiesOnly");
  });

  test("when the machine closed the connection before the right key", () => {
    const more = [...tried, { what: "the key /l", outcome: "not tried" as const }];
    expect(refuse({ tried: more, takes: ["publickey"] }).hint).toMatch(
      /^it closed the connection after 1 key; name the key: /,
    );
    expect(refuse({ tried: more, takes: ["password"] }).hint).toBeNull();
  });

  test("when all were refused, there is no hint", () => {
    expect(refuse({ tried, takes: ["publickey"] }).hint).toBeNull();
  });

  test("when the machine also wants answers, and there is no person to ask", () => {
    const accepted = [{ what: "the key /k", outcome: "accepted" as const }];
    const { says, hint } = refuse({ tried: accepted, takes: ["publickey"] });
    expect(says).toContain("the key /k (accepted, but it wants more)");
    expect(hint).toContain("in a terminal");
    expect(refuse({ tried, takes: ["keyboard-interactive"] }).hint).toContain("in a terminal");
    expect(refuse({ tried, takes: ["password"] }).hint).toBeNull();
    expect(refuse({ tried: accepted, takes: ["publickey"], canAsk: true }).hint).toBeNull();
  });

  test("when a key is locked, with and without an agent, even if the agent cannot be matched", () => {
    expect(hintForUnusable(locked("/k/a"), null)).toBe('eval "$(ssh-agent)"; ssh-add /k/a');
    expect(hintForUnusable(locked("/k/a"), "/agent")).toBe("ssh-add /k/a");
    expect(hintForUnusable(locked("/k/a", null), "/agent")).toBe(
      "ssh-add /k/a; ssh-keygen -y -f /k/a > /k/a.pub",
    );
    const half: KeyFile = { kind: "public-half", path: "/k/a.pub", publicKey: Buffer.from("half") };
    expect(hintForUnusable(half, "/agent")).toBe("ssh-add /k/a");
  });
});
