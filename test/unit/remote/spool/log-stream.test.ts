import fc from "fast-check";
import { expect, test } from "vitest";
import { type KnownLogs, LogStream } from "../../../../src/remote/spool/log-stream.js";
import type { SpoolEvent } from "../../../../src/remote/spool/spool-event.js";

const NAMES = ["events.host.1", "slots/0/events", "slots/1/events"];

/** What tail prints: a header before each piece of a different log. */
function printed(pieces: readonly (readonly [string, string])[]): string {
  let text = "";
  for (const [index, [name, piece]] of pieces.entries()) {
    if (pieces[index - 1]?.[0] !== name) text += `${index === 0 ? "" : "\n"}==> ${name} <==\n`;
    text += piece;
  }
  return text;
}

/** Cuts at any byte, even within a line or a header. */
function cut(text: string, at: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const places = [0, ...at.map((place) => place % (bytes.length + 1)), bytes.length].toSorted(
    (a, b) => a - b,
  );
  return places.slice(1).map((place, index) => bytes.subarray(places[index], place));
}

test("each log's lines are whole and in order, for any cut of the logs and the stream", () => {
  const line = fc.constantFrom("idle 7", "waiting 3 no room", "freed 0000012-1", "", "torn", "opened 2");
  const log = fc.array(line, { maxLength: 6 });
  fc.assert(
    fc.property(
      fc.tuple(log, log, log),
      fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 20 })), { maxLength: 30 }),
      fc.array(fc.nat(), { maxLength: 10 }),
      (logs, steps, cuts) => {
        const left = logs.map((lines) => lines.map((each) => `${each}\n`).join(""));
        const pieces: [string, string][] = [
          ...steps,
          ...[0, 1, 2].map((which): [number, number] => [which, 1000]),
        ]
          .map(([which, length]): [string, string] => {
            const text = left[which] ?? "";
            left[which] = text.slice(length);
            return [NAMES[which] ?? "", text.slice(0, length)];
          })
          .filter(([, piece]) => piece !== "");
        const known: KnownLogs = new Map();
        const seen: SpoolEvent[] = [];
        const stream = new LogStream(known, (event) => seen.push(event));
        for (const chunk of cut(printed(pieces), cuts)) stream.take(chunk);
        for (const [index, lines] of logs.entries())
          expect(known.get(NAMES[index] ?? "")?.lines ?? 0).toBe(lines.length);
        const whole = logs.flat();
        // A line that is cut right before its newline is passed on twice, first as far as it had arrived.
        for (const each of new Set(
          whole.filter((text) => text.startsWith("idle") || text.startsWith("freed")),
        ))
          expect(seen.filter((event) => textOf(event) === each).length).toBeGreaterThanOrEqual(
            whole.filter((text) => text === each).length,
          );
      },
    ),
    { numRuns: 2000 },
  );
});

function textOf(event: SpoolEvent): string {
  if (event.kind === "idle") return `idle ${event.slot}`;
  return event.kind === "freed" ? `freed ${event.key}` : "";
}

test("an incomplete line continues after the next header of its log", () => {
  const seen: SpoolEvent[] = [];
  const stream = new LogStream(new Map(), (event) => seen.push(event));
  const text = printed([
    ["slots/0/events", "ended 0000001-1 0 1"],
    ["slots/1/events", "idle 1\n"],
    ["slots/0/events", "37 250\n"],
  ]);
  stream.take(Buffer.from(text));
  expect(seen).toEqual([
    { kind: "idle", slot: 1 },
    {
      kind: "ended",
      key: "0000001-1",
      slot: 0,
      outcome: { kind: "killed", signal: "SIGKILL" },
      durationMs: 250,
      facts: new Map(),
    },
  ]);
});
