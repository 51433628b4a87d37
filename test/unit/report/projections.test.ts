import { expect, test } from "vitest";
import type { News, RunEvent } from "../../../src/model/event.js";
import { apply } from "../../../src/plan/fold/apply.js";
import { countJobs } from "../../../src/plan/run-state.js";
import { createPlainReporter } from "../../../src/report/lines/plain.js";
import {
  aNewRun,
  back,
  collected,
  ended,
  given,
  LOST,
  lost,
  ready,
  runStarted,
  SUCCESS,
  started,
  takenBack,
} from "../plan/a-run.js";
import { SOURCES, textSink } from "./builders.js";
import { EveryProjection } from "./every-projection.js";

const done = (machine: string, line: number, attempt = 1): News[] => [
  started(machine, line, attempt),
  ended(machine, line, SUCCESS, attempt),
  collected(machine, line, SUCCESS, attempt),
];
/** Machine a had begun line 2 and went down with it. */
const LATE = [takenBack("a", [], [2]), ended("a", 2, LOST), collected("a", 2, LOST)];
const OTHERS = done("b", 2, 2);

test.each([
  ["while another machine runs it", [...LATE, ...OTHERS]],
  ["after another machine ran it", [...OTHERS, ...LATE]],
])(
  "a machine comes back with a lost job that another one ran: the summary agrees with the run (%s)",
  (_, end) => {
    const { state } = aNewRun({ jobs: 4, machines: { a: 1, b: 1 } });
    const stdout = textSink();
    const about = { ...SOURCES, machines: ["a", "b"], isVerbose: false, useUnicode: true };
    const plain = createPlainReporter({ ...about, stdout, stderr: textSink() });
    const every = new EveryProjection(state);
    const stream = [
      runStarted([...state.jobs.values()].map(({ job }) => job)),
      ready("a", 1),
      ready("b", 1),
      ...given("a", 1, 2),
      ...given("b", 3, 4),
      ...done("a", 1),
      lost("a"),
      ...done("b", 3),
      ...done("b", 4),
      { kind: "jobs-reassigned", machine: "a", jobs: [2] } satisfies News,
      ...given("b", 2),
      back("a"),
      ...end,
    ];
    for (const [at, news] of stream.entries()) {
      const event = { ...news, at } as RunEvent;
      const isNews = apply(state, event);
      plain.show(event, { state, isNews });
      every.hear(event, isNews);
    }
    plain.close();
    every.close();
    expect(countJobs(state)).toMatchObject({ succeeded: 4, failed: 0, lost: 0, unfinished: 0 });
    expect(stdout.text).toContain("\n4 succeeded, 0 failed in ");
    expect(stdout.text).not.toContain("failed: ");
  },
);
