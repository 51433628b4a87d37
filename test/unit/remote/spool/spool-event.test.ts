import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../../src/model/job.js";
import { parseExit, parseSpoolEvent, type SpoolEvent } from "../../../../src/remote/spool/spool-event.js";

const key = "0000012-3";

test.each<[string, SpoolEvent]>([
  [`started ${key} 2`, { kind: "started", key, slot: 2, startedAt: null, facts: new Map() }],
  [
    `ended ${key} 0 0 1230`,
    { kind: "ended", key, slot: 0, outcome: { kind: "exited", code: 0 }, durationMs: 1230, facts: new Map() },
  ],
  [
    `ended ${key} 1 timed-out 0`,
    { kind: "ended", key, slot: 1, outcome: { kind: "timed-out" }, durationMs: 0, facts: new Map() },
  ],
  ["unlimited 3 there is no systemd-run", { kind: "unlimited", slot: 3, reason: "there is no systemd-run" }],
  [
    "waiting 3 GPU 0: 5 MB wanted, 4 MB free",
    { kind: "waiting", slot: 3, reason: "GPU 0: 5 MB wanted, 4 MB free" },
  ],
  ["waiting 3 ", { kind: "waiting", slot: 3, reason: "" }],
  ["idle 10", { kind: "idle", slot: 10 }],
  [`freed ${key}`, { kind: "freed", key }],
])("%s", (line, event) => {
  expect(parseSpoolEvent(line)).toEqual(event);
});

describe("facts at the end of an end", () => {
  const factsOf = (words: string) => {
    const event = parseSpoolEvent(`ended ${key} 0 1 20${words}`);
    return event?.kind === "ended" ? Object.fromEntries(event.facts) : null;
  };

  test.each<[string, string, Record<string, string>]>([
    ["none", "", {}],
    ["several", " oom=likely gpu-memory=yes", { oom: "likely", "gpu-memory": "yes" }],
    ["of a later version", " peak_kb=7 peak.mb=7", { peak_kb: "7", "peak.mb": "7" }],
    ["of another form", " oom =yes x= a=b=c a=(etc) ü=1  disk=full", { disk: "full" }],
    ["too long", ` ${"n".repeat(65)}=1 n=${"1".repeat(513)} ${"n".repeat(64)}=1`, { ["n".repeat(64)]: "1" }],
    ["with the name of a property", " constructor=yes", { constructor: "yes" }],
  ])("%s", (_, words, facts) => {
    expect(factsOf(words)).toEqual(facts);
  });

  test("more than any version writes", () => {
    const words = Array.from({ length: 40 }, (_, index) => ` fact${index}=yes`).join("");
    expect(Object.keys(factsOf(words) ?? {})).toHaveLength(32);
  });
});

test.each([
  ["nothing", ""],
  ["of a later version", `paused ${key} 1`],
  ["cut before its end", `ended ${key} 0 0`],
  ["cut in the middle of a word", "started 00000"],
  ["two run into one", `ended ${key} 0 0 12started ${key} 0`],
  ["with a path for a key", "freed ../../etc"],
  ["with a key that would name another file", "started 0000001-1/x 0"],
  ["with a slot that is no number", `started ${key} x`],
  ["with a negative duration", `ended ${key} 0 0 -10`],
  ["with an exit code that is none", `ended ${key} 0 maybe 10`],
  ["with the name of a property", `constructor ${key} 0`],
])("a line that is not an event: %s", (_, line) => {
  expect(parseSpoolEvent(line)).toBeNull();
});

describe("how a job ended", () => {
  test.each<[string, Outcome | null]>([
    ["0", { kind: "exited", code: 0 }],
    ["1", { kind: "exited", code: 1 }],
    ["125", { kind: "exited", code: 125 }],
    ["128", { kind: "exited", code: 128 }],
    ["137", { kind: "killed", signal: "SIGKILL" }],
    ["139", { kind: "killed", signal: "SIGSEGV" }],
    ["143", { kind: "killed", signal: "SIGTERM" }],
    ["255", { kind: "exited", code: 255 }],
    ["timed-out", { kind: "timed-out" }],
    ["stopped", { kind: "stopped" }],
    ["", null],
    ["-1", null],
    ["1 2", null],
    ["0x1", null],
    ["nonsense", null],
  ])("%j", (text, outcome) => {
    expect(parseExit(text)).toEqual(outcome);
  });

  test("lost, with a reason", () => {
    expect(parseExit("lost")).toMatchObject({ kind: "lost", reason: expect.stringMatching(/./) });
  });
});
