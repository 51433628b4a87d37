// Measures the cost of a large batch besides the work on machines: decisions, memory, and the time until the client
// starts.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { bashAt } from "../src/input/batch/ask-bash.js";
import { parseBatch } from "../src/input/batch/batch-file.js";
import { makeWorkspace } from "../test/rig/workspace.js";
import { waitForCalm } from "./calm.js";
import { type Opened, openBatch } from "./opened-batch.js";
import { type Played, playLoop, playPlan } from "./played-batch.js";
import { formatSeconds, formatSeries, type Row } from "./report.js";
import { type Series, summarize } from "./rounds.js";

const JOBS = 100_000;
const MACHINES = 1000;
const SLOTS = 2;
const ROUNDS = 3;
const WHAT = "100,000 jobs, 1,000 simulated machines × 2 slots";
const LEAST_DECISIONS_A_SECOND = 50_000;
const MOST_BYTES_A_JOB = 1000;
const MOST_START_MS = 1000;

export async function deciding(): Promise<Row[]> {
  const lines = Array.from({ length: JOBS }, (_, n) => `python train.py --seed ${n} --out runs/${n}\n`);
  const content = Buffer.from(lines.join(""));
  // Runs first, before the JIT has made this process faster, because a client opens a batch once.
  const opened = await openCold(content);
  const running = await measureRunning(content);
  const { jobs } = await parseBatch(content, "jobs.sh", bashAt("bash"));
  const batch = { jobs, machines: MACHINES, slots: SLOTS };
  const alone = await rounds(() => playPlan({ ...batch, isEachAlone: true }));
  const together = await rounds(() => playPlan({ ...batch, isEachAlone: false }));
  const loop = await rounds(() => playLoop({ ...batch, isEachAlone: false }));
  const aloneLoop = await rounds(() => playLoop({ ...batch, isEachAlone: true }));
  return [
    decisionsRow(`${WHAT}: decisions, events arrive one by one`, alone),
    decisionsRow(`${WHAT}: decisions, events of a millisecond arrive together`, together),
    memoryRow(opened.bytesAJob, running),
    ...startRows(opened, running.firstAssignMs),
    jobsRow(`${WHAT}: the client's loop and reporter, events of a millisecond arrive together`, loop),
    jobsRow(`${WHAT}: the same, events arrive one by one`, aloneLoop),
  ];
}

async function rounds<T>(play: () => T | Promise<T>): Promise<T[]> {
  const taken: T[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    taken.push(await play());
    console.error(`${WHAT}: round ${round} of ${ROUNDS} ${JSON.stringify(taken.at(-1))}`);
  }
  return taken;
}

function decisionsRow(what: string, played: readonly Played[]): Row {
  const rate = summarize(played.map(({ decisions, cpuMs }) => (1000 * decisions) / cpuMs));
  return {
    what,
    ours: formatRate(rate, "/s"),
    goal: { text: "≥ 50,000/s", isMet: rate.median >= LEAST_DECISIONS_A_SECOND },
    note: describe(played),
  };
}

function jobsRow(what: string, played: readonly Played[]): Row {
  const rate = summarize(played.map(({ cpuMs }) => (1000 * JOBS) / cpuMs));
  return { what, ours: formatRate(rate, " jobs/s"), note: describe(played) };
}

function describe(played: readonly Played[]): string {
  const [one] = played;
  const cpu = summarize(played.map(({ cpuMs }) => cpuMs)).median;
  const counts = [one?.decisions, one?.events, one?.turns].map((count) => count?.toLocaleString("en"));
  const jobsASecond = Math.round((10 * JOBS) / cpu) * 100;
  return `${counts[0]} decisions, ${counts[1]} events in ${counts[2]} turns: ${formatSeconds(cpu)} of processor time, ${jobsASecond.toLocaleString("en")} jobs/s`;
}

function formatRate(rate: Series, unit: string): string {
  return formatSeries(rate, (value) => `${(Math.round(value / 100) * 100).toLocaleString("en")}${unit}`);
}

async function openCold(content: Uint8Array): Promise<Opened & { bytesAJob: number }> {
  const heap = heapMeter();
  const before = heap();
  let bytes = 0;
  const look = () => {
    bytes = heap() - before;
  };
  await waitForCalm();
  const opened = await inWorkspace((dir) => openBatch(content, MACHINES, dir, look));
  return { ...opened, bytesAJob: bytes / JOBS };
}

interface Running {
  /** The peak. */
  readonly bytesAJob: number;
  readonly firstAssignMs: number;
}

async function measureRunning(content: Uint8Array): Promise<Running> {
  const heap = heapMeter();
  const before = heap();
  const { jobs } = await parseBatch(content, "jobs.sh", bashAt("bash"));
  let [bytes, collected] = [0, 0];
  const { firstAssignMs } = await playLoop(
    { jobs, machines: MACHINES, slots: SLOTS, isEachAlone: false },
    ({ kind }) => {
      if (kind !== "job-collected") return;
      if (collected++ % (JOBS / 10) === 0) bytes = Math.max(bytes, heap() - before);
    },
  );
  return { bytesAJob: bytes / JOBS, firstAssignMs };
}

/** Bytes in the heap that are still in use. */
function heapMeter(): () => number {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  return () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
}

function memoryRow(opened: number, { bytesAJob }: Running): Row {
  return {
    what: `${WHAT}: the client's memory per job`,
    ours: `${Math.round(Math.max(opened, bytesAJob))} bytes`,
    goal: { text: "< 1 KB", isMet: Math.max(opened, bytesAJob) < MOST_BYTES_A_JOB },
    note: `${Math.round(opened)} just opened, up to ${Math.round(bytesAJob)} while jobs run`,
  };
}

function startRows({ wallMs, cpuMs }: Opened, firstAssignMs: number): Row[] {
  const row = (what: string, ms: number, note: string): Row => ({
    what: `${WHAT}: ${what}`,
    ours: formatSeconds(ms),
    goal: { text: "< 1 s", isMet: ms < MOST_START_MS },
    note,
  });
  return [
    row(
      "from the batch file's bytes to the first connection",
      wallMs,
      `parsing, lock, record and state: ${formatSeconds(cpuMs)} of processor time`,
    ),
    row("from the parsed jobs to the first assignment", firstAssignMs, "1,000 machines have answered"),
  ];
}

async function inWorkspace<T>(use: (dir: string) => Promise<T>): Promise<T> {
  const work = await makeWorkspace();
  try {
    return await use(work.dir);
  } finally {
    await work.remove();
  }
}
