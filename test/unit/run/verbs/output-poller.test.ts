import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import type { Control, OutputPosition } from "../../../../src/remote/spool/control.js";
import { OutputFiles } from "../../../../src/run/home/output-files.js";
import { Results } from "../../../../src/run/home/results.js";
import type { Known } from "../../../../src/run/verbs/known.js";
import type { MachineLink } from "../../../../src/run/verbs/machine-link.js";
import { OutputPoller } from "../../../../src/run/verbs/output-poller.js";
import { tellSpoolEvent } from "../../../../src/run/verbs/telling.js";
import { until } from "../../../rig/until.js";
import { makeWorkspace } from "../../../rig/workspace.js";

const RUNS = "0000001-1";
const HAS_ENDED = "0000002-1";

test("a job that ended before it was polled costs no file and no request", async () => {
  const work = await makeWorkspace();
  const results = new Results(work.dir);
  await results.prepare();
  const outputs = new OutputFiles(results, new Set());
  const asked: OutputPosition[] = [];
  const control = {
    async readOutput(positions: readonly OutputPosition[]) {
      asked.push(...positions);
      return [];
    },
  } as unknown as Control;
  const link = { isLost: false, spec: { name: "m" }, control: async () => control } as unknown as MachineLink;
  const known = { isUnderWay: () => true } as unknown as Known;
  const poller = new OutputPoller(link, outputs, () => {});
  try {
    poller.watch(RUNS, "jobs.sh.1");
    poller.watch(HAS_ENDED, "jobs.sh.2");
    const ended = { kind: "ended", key: HAS_ENDED, slot: 0, outcome: { kind: "exited", code: 0 } } as const;
    tellSpoolEvent({ known, link, poller, emit: () => {} }, { ...ended, durationMs: 1 });
    await until("it was asked", () => asked.length > 0);
    expect(new Set(asked.map(({ key }) => key))).toEqual(new Set([RUNS]));
    expect(existsSync(results.streamPath("jobs.sh.2", "out"))).toBe(false);
  } finally {
    poller.stop();
    await outputs.end(RUNS, null);
    await work.remove();
  }
});
