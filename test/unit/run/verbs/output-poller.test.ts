import { existsSync, truncateSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { News } from "../../../../src/model/event.js";
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
      return { cut: [], beyond: [] };
    },
  } as unknown as Control;
  const link = {
    isLost: false,
    hasSpool: true,
    spec: { name: "m" },
    control: async () => control,
  } as unknown as MachineLink;
  const known = { isUnderWay: () => true } as unknown as Known;
  const poller = new OutputPoller(link, outputs, () => {});
  try {
    poller.watch(RUNS, "jobs.sh.1");
    poller.watch(HAS_ENDED, "jobs.sh.2");
    const ended = { kind: "ended", key: HAS_ENDED, slot: 0, outcome: { kind: "exited", code: 0 } } as const;
    tellSpoolEvent({ known, link, poller, emit: () => {} }, { ...ended, durationMs: 1, facts: new Map() });
    await until("it was asked", () => asked.length > 0);
    expect(new Set(asked.map(({ key }) => key))).toEqual(new Set([RUNS]));
    expect(existsSync(results.streamPath("jobs.sh.2", "out"))).toBe(false);
  } finally {
    poller.stop();
    await outputs.end(RUNS, null);
    await work.remove();
  }
});

/** A poller whose machine answers each question as told. */
async function polling(
  answer: Control["readOutput"],
  options: ConstructorParameters<typeof OutputFiles>[2] = {},
): Promise<{ readonly news: News[]; close(): Promise<void>; readonly results: Results; watch(): void }> {
  const work = await makeWorkspace();
  const results = new Results(work.dir);
  await results.prepare();
  const outputs = new OutputFiles(results, new Set(["1 1"]), options);
  const control = { readOutput: answer } as unknown as Control;
  const link = {
    isLost: false,
    hasSpool: true,
    spec: { name: "m" },
    control: async () => control,
  } as unknown as MachineLink;
  const news: News[] = [];
  const poller = new OutputPoller(link, outputs, (event) => void news.push(event));
  return {
    news,
    results,
    watch: () => poller.watch(RUNS, "jobs.sh.1"),
    async close() {
      poller.stop();
      await outputs.end(RUNS, null);
      await work.remove();
    },
  };
}

test("of a stream beyond its limit the last line is shown, once for each time that it grew", async () => {
  const sizes = [7000, 7000, 9000];
  const beyond = { key: RUNS, stream: "out" } as const;
  const { news, watch, close } = await polling(async () => {
    const size = sizes.shift() ?? 9000;
    const foreign = { ...beyond, key: HAS_ENDED, size, lastLine: "of another" };
    return { cut: [], beyond: [{ ...beyond, size, lastLine: `line ${size}` }, foreign] };
  });
  try {
    watch();
    await until("all were asked for", () => sizes.length === 0 && news.length >= 2);
    expect(news).toEqual([7000, 9000].map((size) => ({ kind: "job-said", job: 1, text: `line ${size}` })));
  } finally {
    await close();
  }
});

test.each([
  ["is pointed out once", null, 1],
  ["is what was asked for, with a limit", { bytes: 3e9, text: "3GB" }, 0],
])("a job that prints more than 1 GB %s", async (_, limit, count) => {
  let asked = 0;
  const answer: Control["readOutput"] = async ([position], onOutput) => {
    asked++;
    const { offset = 0 } = position ?? {};
    await onOutput({ kind: "output", key: RUNS, stream: "out", offset, bytes: Buffer.from("more\n") });
    return { cut: [], beyond: [] };
  };
  const { news, results, watch, close } = await polling(answer, { limitOf: () => limit });
  try {
    const path = results.streamPath("jobs.sh.1", "out");
    writeFileSync(path, "");
    truncateSync(path, 1e9 - 3);
    watch();
    await until("it was asked twice", () => asked >= 2);
    expect(news.filter(({ kind }) => kind === "warning")).toHaveLength(count);
    expect(JSON.stringify(news).includes("jobs.sh.1 has printed more than 1 GB")).toBe(count === 1);
  } finally {
    await close();
  }
});
