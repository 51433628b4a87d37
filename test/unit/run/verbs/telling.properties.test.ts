// A machine's logs reach the client in any order: only the lines within one log are ordered.

import fc from "fast-check";
import { expect, test } from "vitest";
import { Fleet } from "../../../../src/fleet/fleet.js";
import { attemptKey, rankOf } from "../../../../src/model/attempt-key.js";
import type { News } from "../../../../src/model/event.js";
import { parseSpoolEvent } from "../../../../src/remote/spool/spool-event.js";
import type { OutputFiles } from "../../../../src/run/home/output-files.js";
import { Known } from "../../../../src/run/verbs/known.js";
import { MachineLink } from "../../../../src/run/verbs/machine-link.js";
import { OutputPoller } from "../../../../src/run/verbs/output-poller.js";
import { tellSpoolEvent } from "../../../../src/run/verbs/telling.js";
import { aSpec } from "../../plan/a-machine.js";
import { aRun, given } from "../../plan/a-run.js";

const JOBS = 8;
const SLOTS = 3;
const CLIENTS = 2;
const HOLDER = 77;

/** Which slot runs a job, and how it ends. */
const course = fc.record({
  by: fc.nat(SLOTS + CLIENTS - 1),
  code: fc.constantFrom("0", "1", "137", "lost", "stopped", "timed-out"),
  isOver: fc.boolean(),
  isFreed: fc.boolean(),
});

type Course = typeof course extends fc.Arbitrary<infer Value> ? Value : never;

function keyOf(id: number): string {
  return attemptKey({ rank: rankOf({ id, line: id, name: "", command: "" }), job: id, number: 1 });
}

/** One log per slot, then one per client. `drains`: the clients that drain and open, in turn. */
function logsOf(courses: readonly Course[], drains: readonly number[]): string[][] {
  const logs: string[][] = Array.from({ length: SLOTS + CLIENTS }, () => []);
  const say = (writer: number, line: string) => logs[writer]?.push(line);
  for (const [index, { by, code, isOver, isFreed }] of courses.entries()) {
    const key = keyOf(index + 1);
    if (by >= SLOTS) say(by, `ended ${key} 0 stopped 0`);
    else {
      say(by, `waiting ${by} memory`);
      say(by, `started ${key} ${by}`);
      // Lines of a slot after a job without an end are from a later loop.
      if (isOver) say(by, `ended ${key} ${by} ${code} 12`);
    }
    if (isFreed && isOver) say(SLOTS + (index % CLIENTS), `freed ${key}`);
  }
  for (const [index, client] of drains.entries())
    say(SLOTS + client, `${index % 2 === 0 ? "draining" : "opened"} ${1 + Math.floor(index / 2)}`);
  for (let slot = 0; slot < SLOTS; slot++) say(slot, `idle ${slot}`);
  return logs;
}

/** `picks`: which log the next line comes from. */
function interleave(logs: readonly string[][], picks: readonly number[]): string[] {
  const left = logs.map((log) => [...log]);
  const lines = picks.flatMap((pick) => left[pick]?.splice(0, 1) ?? []);
  return [...lines, ...left.flat()];
}

/** The state of a run after all lines. */
function hear(lines: readonly string[]) {
  const run = aRun({ jobs: JOBS, machines: { a: SLOTS } });
  const ids = Array.from({ length: JOBS }, (_, index) => index + 1);
  run.tell(...given("a", ...ids));
  const link = new MachineLink(
    {
      spec: aSpec({ name: "a" }),
      place: { batch: "b", scratch: null },
      pastSlots: null,
      pastCapacity: null,
      older: [],
    },
    new Fleet(never),
  );
  link.holderPid = HOLDER;
  const emit = (news: News) => run.tell(news);
  const poller = new OutputPoller(link, {} as OutputFiles, emit);
  poller.stop();
  const jobs = ids.map((id) => [id, { id, line: id, name: `jobs.sh.${id}`, command: "true" }] as const);
  const known = new Known(run.state, new Map(jobs));
  for (const line of lines) {
    const event = parseSpoolEvent(line);
    if (event === null) throw new Error(`no event: ${line}`);
    tellSpoolEvent({ known, link, poller, emit }, event);
  }
  const { tally, halting, machines } = run.state;
  return {
    tally,
    jobs: ids.map((id) => run.job(id)),
    isOpen: machines.get("a")?.isOpen,
    ended: [...halting.ended].toSorted(),
    failed: halting.failed,
  };
}

const never = () => new Promise<never>(() => {});

test("the state is the same for any order of the logs' lines", () => {
  fc.assert(
    fc.property(
      fc.array(course, { minLength: JOBS, maxLength: JOBS }),
      fc.array(fc.nat(CLIENTS - 1), { maxLength: 6 }),
      fc.array(fc.nat(SLOTS + CLIENTS - 1), { maxLength: 40 }),
      fc.array(fc.nat(SLOTS + CLIENTS - 1), { maxLength: 40 }),
      (courses, drains, picks, otherPicks) => {
        const logs = logsOf(courses, drains);
        const heard = hear(interleave(logs, picks));
        expect(hear(interleave(logs, otherPicks))).toEqual(heard);
        expect(heard.isOpen).toBe(drains.length % 2 === 0);
        for (const [index, { by, isOver }] of courses.entries())
          expect(heard.jobs[index]).toMatchObject({ kind: isOver || by >= SLOTS ? "ended" : "running" });
      },
    ),
    { numRuns: 500 },
  );
});
