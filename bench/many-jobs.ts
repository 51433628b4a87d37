// Many short jobs: the cost of a job besides its own work.

import { makeWorkspace } from "../test/rig/workspace.js";
import { firstMoment, lastMoment } from "./moments.js";
import { compare, formatSeconds, type Row } from "./report.js";
import type { Rig } from "./rig.js";
import { type Contender, cpuOf, takeTurns, timeOf } from "./rounds.js";
import { type Route, SLOTS } from "./routes.js";

const PARALLEL = "parallel, ControlMaster";

export async function manyJobs(rig: Rig): Promise<Row[]> {
  return [
    ...(await manyShort(rig)),
    ...(await thousand(rig)),
    await sleeping(rig, rig.near, ""),
    await sleeping(rig, rig.far, ", 50 ms away", 0.95),
  ];
}

async function manyShort(rig: Rig): Promise<Row[]> {
  const work = await makeWorkspace({ "jobs.sh": "true\n".repeat(200) });
  const what = "200 × `true`, 4 machines × 2 slots";
  const { peer, ours } = await takeTurns(what, 5, contend(rig, work.dir, rig.near));
  const { plain } = await takeTurns(what, 1, { plain: parallelLines(rig, work.dir, rig.near, true) });
  return [
    compare({ what, ours: timeOf(ours), peer: timeOf(peer), peerName: PARALLEL, goal: 1 }),
    compare({ what, ours: timeOf(ours), peer: timeOf(plain), peerName: "parallel, plain ssh" }),
  ];
}

async function thousand(rig: Rig): Promise<Row[]> {
  const jobs = 1000;
  const work = await makeWorkspace({ "jobs.sh": "true\n".repeat(jobs) });
  const what = "1,000 × `true`";
  const fed = await makeWorkspace({ lines: "bash -c true\n".repeat(jobs / rig.hosts.length) });
  const taken = await takeTurns(what, 3, {
    ...contend(rig, work.dir, rig.near),
    limit: limit(rig, fed.path("lines")),
    passed: rig.ours(work.dir, { route: rig.passed }),
    far: rig.ours(work.dir, { route: rig.far }),
  });
  const { farPeer } = await takeTurns(what, 1, { farPeer: parallelLines(rig, work.dir, rig.far) });
  const [ours, far, cpu] = [timeOf(taken.ours), timeOf(taken.far), cpuOf(taken.ours, jobs)];
  return [
    compare({ what, ours, peer: timeOf(taken.peer), peerName: PARALLEL, goal: 1 / 6 }),
    compare({
      what,
      ours,
      peer: timeOf(taken.limit),
      peerName: "one `ssh host sh` per machine, fed `bash -c true` lines",
      goal: 1 / 0.6,
    }),
    compare({
      what: `${what}, 50 ms away`,
      ours: far,
      peer: timeOf(taken.passed),
      peerName: "the same at 0 ms, also through a relay",
      goal: 1.3,
    }),
    compare({ what: `${what}, 50 ms away`, ours: far, peer: timeOf(farPeer), peerName: PARALLEL }),
    {
      ...compare({
        what: `${what}: the client's processor time per job`,
        ours: cpu,
        peer: cpuOf(taken.peer, jobs),
        peerName: PARALLEL,
      }),
      goal: { text: "< 5 ms", isMet: cpu.median < 5 },
    },
  ];
}

/** Nothing that starts a bash per line can be faster: there is no channel, no file and no answer per line. */
function limit(rig: Rig, lines: string): Contender {
  const each = rig.hosts.map(({ name }) => `ssh -F ${rig.near.plainConfig} ${name} sh <"$0" &`);
  return rig.command(["bash", "-c", `${each.join("\n")}\nwait`, lines]);
}

async function sleeping(rig: Rig, route: Route, where: string, goal?: number): Promise<Row> {
  const jobs = 40;
  const idealMs = (jobs * 1000) / (rig.hosts.length * SLOTS);
  const work = await makeWorkspace({ "jobs.sh": "sleep 1\n".repeat(jobs) });
  const what = `40 × \`sleep 1\`${where}`;
  const standingMs: number[] = [];
  const ours: Contender = {
    ...rig.ours(work.dir, { route, args: ["--json"] }),
    async check() {
      standingMs.push(
        (await lastMoment(rig.stdout, "job-ended")) - (await firstMoment(rig.stdout, "machine-ready")),
      );
    },
  };
  const taken = await takeTurns(what, 3, { peer: parallelLines(rig, work.dir, route), ours });
  const percent = (ms: number) => `${Math.round((100 * idealMs) / ms)} %`;
  const standing = standingMs.sort((a, b) => a - b)[1] ?? Number.NaN;
  const [own, peer] = [timeOf(taken.ours), timeOf(taken.peer)];
  return {
    ...compare({
      what,
      ours: own,
      peer,
      peerName: PARALLEL,
      note: `of the ideal ${formatSeconds(idealMs)}: ${percent(standing)} from the first connection on, ${percent(own.median)} in total; parallel ${percent(peer.median)} in total`,
    }),
    goal:
      goal === undefined
        ? undefined
        : { text: `≥ ${100 * goal} % of the ideal once connected`, isMet: idealMs / standing >= goal },
  };
}

function contend(rig: Rig, dir: string, route: Route): Record<"peer" | "ours", Contender> {
  return { peer: parallelLines(rig, dir, route), ours: rig.ours(dir, { route }) };
}

/** Without a command, parallel runs each line as a command. */
function parallelLines(rig: Rig, dir: string, route: Route, isPlain = false): Contender {
  return rig.parallel(dir, ["--arg-file", "jobs.sh"], { route, isPlain });
}
