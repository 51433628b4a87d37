// Many short jobs: what a job costs beside its own work.

import { makeWorkspace } from "../test/rig/workspace.js";
import { compare, type Row } from "./report.js";
import type { Rig } from "./rig.js";
import { type Contender, cpuOf, type Round, takeTurns, timeOf } from "./rounds.js";
import { type Route, SLOTS } from "./routes.js";

export async function manyJobs(rig: Rig): Promise<Row[]> {
  return [
    ...(await manyShort(rig)),
    ...(await thousand(rig, rig.near, "")),
    ...(await thousand(rig, rig.far, ", 50 ms away")),
    await sleeping(rig, rig.near, ""),
    await sleeping(rig, rig.far, ", 50 ms away"),
  ];
}

async function manyShort(rig: Rig): Promise<Row[]> {
  const work = await makeWorkspace({ "jobs.sh": "true\n".repeat(200) });
  const what = "200 × `true`, 4 machines × 2 slots";
  const { peer, ours } = await takeTurns(what, 5, contend(rig, work.dir, rig.near));
  const { plain } = await takeTurns(what, 2, { plain: parallelLines(rig, work.dir, rig.near, true) });
  await work.remove();
  return [
    compare({ what, ours: timeOf(ours), peer: timeOf(peer), peerName: "parallel, ControlMaster", goal: 1 }),
    compare({ what, ours: timeOf(ours), peer: timeOf(plain), peerName: "parallel, plain ssh" }),
  ];
}

async function thousand(rig: Rig, route: Route, where: string): Promise<Row[]> {
  const jobs = 1000;
  const work = await makeWorkspace({ "jobs.sh": "true\n".repeat(jobs) });
  const what = `1,000 × \`true\`${where}`;
  const { peer, ours } = await takeTurns(what, 3, contend(rig, work.dir, route));
  await work.remove();
  const peerName = "parallel, ControlMaster";
  return [
    compare({ what, ours: timeOf(ours), peer: timeOf(peer), peerName }),
    compare({
      what: `${what}: the client's processor time a job`,
      ours: cpuOf(ours, jobs),
      peer: cpuOf(peer, jobs),
      peerName,
    }),
  ];
}

async function sleeping(rig: Rig, route: Route, where: string): Promise<Row> {
  const jobs = 40;
  const idealMs = (jobs * 1000) / (rig.hosts.length * SLOTS);
  const work = await makeWorkspace({ "jobs.sh": "sleep 1\n".repeat(jobs) });
  const what = `40 × \`sleep 1\`${where}`;
  const { peer, ours } = await takeTurns(what, 3, contend(rig, work.dir, route));
  await work.remove();
  const share = (taken: readonly Round[]) => `${Math.round((100 * idealMs) / timeOf(taken).median)} %`;
  return compare({
    what,
    ours: timeOf(ours),
    peer: timeOf(peer),
    peerName: "parallel, ControlMaster",
    note: `of the ideal ${idealMs / 1000} s: ${share(ours)}, parallel ${share(peer)}`,
  });
}

function contend(rig: Rig, dir: string, route: Route): Record<"peer" | "ours", Contender> {
  return { peer: parallelLines(rig, dir, route), ours: rig.ours(dir, { route }) };
}

/** Without a command, parallel runs each line as one. */
function parallelLines(rig: Rig, dir: string, route: Route, isPlain = false): Contender {
  return rig.parallel(dir, ["--arg-file", "jobs.sh"], { route, isPlain });
}
