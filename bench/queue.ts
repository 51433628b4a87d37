// Measures the queue service: adding jobs, running short ones, what overtakes what, and what it costs while it has nothing to do.

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../test/rig/until.js";
import { waitForCalm } from "./calm.js";
import { makeQueueHome, type QueueHome } from "./queue-home.js";
import { FILLED, fillQueue } from "./queue-jobs.js";
import { queueMemory } from "./queue-memory.js";
import { hasPeer, nqPeer, tspPeer } from "./queue-peers.js";
import { compare, formatSeconds, formatSeries, type Row } from "./report.js";
import type { Rig } from "./rig.js";
import { type Series, summarize, takeTurns, timeOf } from "./rounds.js";

const ROUNDS = 11;
const FEW_ROUNDS = 3;
const WAITING = 100_000;
const LINES = 10_000;
const SHORT = 1000;
const GAPS = 100;
const URGENT = 5;
const IDLE_MS = 30_000;

export async function queue(rig: Rig): Promise<Row[]> {
  const empty = await makeQueueHome(rig);
  const full = await makeQueueHome(rig);
  try {
    const waiting = { count: WAITING, command: "true", cwd: full.home.dir, isPaused: true, areOver: false };
    await full.fill((db) => fillQueue(db, waiting));
    empty.run("serve");
    const idle = [await idleMemory(empty), await idleProcessor(empty)];
    full.run("serve");
    empty.run("queue", "create", FILLED);
    empty.run("queue", "pause", FILLED);
    const rows = [
      ...(await oneEnqueue(empty, full)),
      ...idle,
      await manyLines(rig, empty),
      ...(await manyShort(rig, empty)),
      await gaps(rig, empty),
      await overtaking(empty),
    ];
    return [...rows, await restart(rig), ...(await queueMemory(rig, full))];
  } finally {
    await empty.stop();
    await full.stop();
  }
}

async function oneEnqueue(empty: QueueHome, full: QueueHome): Promise<Row[]> {
  const what = "one `sshoal enqueue`";
  const enqueue = (at: QueueHome) => at.contender(at.words("enqueue", FILLED, "--", "true"));
  const taken = await takeTurns(what, ROUNDS, {
    peer: empty.contender(["env", "A=", process.execPath, "-e", "0"]),
    none: enqueue(empty),
    ours: enqueue(full),
  });
  const [peer, none, ours] = [timeOf(taken.peer), timeOf(taken.none), timeOf(taken.ours)];
  const peerName = "`node -e 0`";
  return [
    compare({ what: `${what}, no job waits`, ours: none, peer, peerName, goal: 3 }),
    compare({ what: `${what}, 100,000 wait`, ours, peer, peerName, goal: 3 }),
    compare({ what: `${what}, 100,000 wait`, ours, peer: none, peerName: "no job waits", goal: 1.25 }),
  ];
}

async function manyLines(rig: Rig, { home, contender, fed }: QueueHome): Promise<Row> {
  const what = "10,000 jobs from stdin, durable";
  const lines = await home.write("lines", numbered(LINES, "true"));
  const ours = contender(fed(lines, "enqueue", FILLED, "-"));
  const times = hasPeer("tsp")
    ? await takeTurns(what, FEW_ROUNDS, { peer: tspPeer(rig, home, SHORT, "adding"), ours })
    : { ...(await takeTurns(what, FEW_ROUNDS, { ours })), peer: null };
  const series = timeOf(times.ours);
  return {
    what,
    ours: formatTimes(series),
    ...(times.peer && {
      peer: `task-spooler, 1,000 jobs: ${formatTimes(timeOf(times.peer))}`,
      ratio: series.median / timeOf(times.peer).median,
    }),
    goal: { text: "≤ 1.5 s", isMet: series.median <= 1500 },
  };
}

async function manyShort(rig: Rig, { home, run, fed, words, contender }: QueueHome): Promise<Row[]> {
  const what = "1,000 × `true`, one slot, exit codes and output kept";
  run("queue", "create", "short", "--max-jobs", "1");
  const lines = await home.write("short", numbered(SHORT, "true"));
  const both = ["sh", "-c", '"$@" >added && exec ./wait', "sh", ...fed(lines, "enqueue", "short", "-")];
  await home.write("wait", `#!/bin/sh\nexec ${words("wait", "short").join(" ")}\n`);
  const ours = contender(both);
  if (!hasPeer("tsp") || !hasPeer("nq")) {
    const { ours: alone } = await takeTurns(what, FEW_ROUNDS, { ours });
    return [{ what, ours: formatTimes(timeOf(alone)), note: "no task-spooler or nq to compare with" }];
  }
  const taken = await takeTurns(what, FEW_ROUNDS, {
    peer: tspPeer(rig, home, SHORT, "running"),
    nq: nqPeer(rig, home, SHORT),
    ours,
  });
  const times = timeOf(taken.ours);
  return [
    compare({ what, ours: times, peer: timeOf(taken.peer), peerName: "task-spooler", goal: 1.5 }),
    compare({ what, ours: times, peer: timeOf(taken.nq), peerName: "nq" }),
  ];
}

/** From the last thing that a job does to the first thing that the next one does. */
async function gaps(rig: Rig, { home, run, fed, contender }: QueueHome): Promise<Row> {
  const what = "end of a job to the next start, one slot";
  run("queue", "create", "gaps", "--max-jobs", "1");
  const stamped = (file: string) =>
    `date +%s%N >>${home.path(file)}; sleep 0.05; date +%s%N >>${home.path(file)}`;
  const lines = await home.write("gaps", numbered(GAPS, stamped("ours.times")));
  await waitForCalm();
  await contender(fed(lines, "enqueue", "gaps", "-")).run();
  run("wait", "gaps");
  const ours = gapsIn(home.path("ours.times"));
  const isMet = ours.median <= 20;
  const row: Row = { what, ours: formatTimes(ours), goal: { text: "≤ 20 ms", isMet } };
  if (!hasPeer("tsp")) return row;
  await waitForCalm();
  const tsp = tspPeer(rig, home, GAPS, "running", stamped("peer.times"));
  await tsp.run();
  await tsp.check();
  const peer = gapsIn(home.path("peer.times"));
  return { ...row, peer: `task-spooler: ${formatTimes(peer)}`, ratio: ours.median / peer.median };
}

function gapsIn(file: string): Series {
  const times = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((text) => BigInt(text));
  const between: number[] = [];
  for (let at = 2; at < times.length; at += 2)
    between.push(Number((times[at] ?? 0n) - (times[at - 1] ?? 0n)) / 1e6);
  return summarize(between);
}

/** Jobs that begin after the name of the urgent one was printed, and before it. */
async function overtaking({ home, run, fed, contender }: QueueHome): Promise<Row> {
  run("queue", "create", "urgent", "--max-jobs", "1");
  const order = home.path("order");
  const lines = await home.write("long", numbered(LINES, `echo usual >>${order}; sleep 1`));
  await contender(fed(lines, "enqueue", "urgent", "-")).run();
  const begun = () => readFileSync(order, "utf8").trim().split("\n");
  const before: number[] = [];
  for (let round = 0; round < URGENT; round++) {
    await until("the next job begins", () =>
      home.read("order").then(
        (text) => text.endsWith("usual\n"),
        () => false,
      ),
    );
    run("enqueue", "urgent", "--priority", "10", "--", `echo urgent >>${order}; sleep 1`);
    const printed = begun().length;
    const at = await until("the urgent job begins", () => {
      const place = begun().indexOf("urgent", printed - 1);
      return place < 0 ? null : { place };
    });
    before.push(Math.max(0, at.place - printed));
  }
  run("queue", "delete", "urgent", "--stop");
  const most = Math.max(...before);
  return {
    what: "an urgent job behind 10,000 of 1 s: jobs that begin before it",
    ours: `at most ${most} in ${URGENT} rounds`,
    goal: { text: "0", isMet: most === 0 },
  };
}

async function restart(rig: Rig): Promise<Row> {
  const times: number[] = [];
  for (let round = 0; round < FEW_ROUNDS; round++) {
    const at = await makeQueueHome(rig);
    try {
      const first = at.home.path("first");
      const command = `date +%s%N >>${first}; sleep 60`;
      const waiting = { count: WAITING, command, cwd: at.home.dir, isPaused: false, areOver: false };
      await at.fill((db) => fillQueue(db, waiting));
      await waitForCalm();
      const begun = BigInt(Date.now()) * 1_000_000n;
      at.run("serve");
      const text = await until("the first job begins", () => at.home.read("first").catch(() => null));
      times.push(Number(BigInt(text.trim()) - begun) / 1e6);
    } finally {
      await at.stop();
    }
  }
  const series = summarize(times);
  return {
    what: "100,000 jobs known: from `sshoal serve` to the first start",
    ours: formatTimes(series),
    goal: { text: "≤ 2 s", isMet: series.median <= 2000 },
  };
}

async function idleMemory(service: QueueHome): Promise<Row> {
  await sleep(3000);
  const megabytes = service.residentBytes() / 1e6;
  return {
    what: "memory of the service: idle",
    ours: `${Math.round(megabytes)} MB`,
    goal: { text: "≤ 90 MB", isMet: megabytes <= 90 },
  };
}

async function idleProcessor(service: QueueHome): Promise<Row> {
  const before = service.cpuMs();
  await sleep(IDLE_MS);
  const share = (100 * (service.cpuMs() - before)) / IDLE_MS;
  return {
    what: "processor time of the idle service, this computer only",
    ours: `${share.toFixed(3)} % of a core over 30 s`,
    goal: { text: "≤ 0.2 %", isMet: share <= 0.2 },
  };
}

function numbered(count: number, command: string): string {
  return Array.from({ length: count }, (_, n) => `${command} # ${n}\n`).join("");
}

function formatTimes(times: Series): string {
  return formatSeries(times, formatSeconds);
}
