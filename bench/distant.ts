// Machines that are 50 ms away: what counts is how often the client waits for an answer.

import { makeWorkspace } from "../test/rig/workspace.js";
import { echo } from "./one-job.js";
import { compare, type Row } from "./report.js";
import type { Rig } from "./rig.js";
import { type Contender, takeTurns, timeOf } from "./rounds.js";
import { SLOTS } from "./routes.js";

const ROUNDS = 7;

export async function distant(rig: Rig): Promise<Row[]> {
  return [
    await echo(rig, {
      what: "one `echo` on one machine, 50 ms away",
      route: rig.far,
      goal: (ssh, node) => 1.15 * (ssh + node),
      goalText: "≤ 1.15× of ssh and node's own start together",
    }),
    await many(rig),
  ];
}

async function many(rig: Rig): Promise<Row> {
  const jobs = 200;
  const work = await makeWorkspace({ "jobs.sh": "true\n".repeat(jobs) });
  const fed = await makeWorkspace({ lines: "true\n".repeat(jobs / rig.hosts.length) });
  const what = "200 × `true`, 50 ms away";
  const { peer, ours } = await takeTurns(what, ROUNDS, {
    peer: fedByXargs(rig, fed.path("lines")),
    ours: rig.ours(work.dir, { route: rig.far }),
  });
  const peerName = `one \`ssh host xargs -P${SLOTS}\` per machine, with a bash per line`;
  return compare({ what, ours: timeOf(ours), peer: timeOf(peer), peerName, goal: 1.35 });
}

function fedByXargs(rig: Rig, lines: string): Contender {
  const each = rig.hosts.map(
    ({ name }) => `ssh -F ${rig.far.plainConfig} ${name} 'xargs -P${SLOTS} -I{} bash -c {}' <"$0" &`,
  );
  return rig.command(["bash", "-c", `${each.join("\n")}\nwait`, lines]);
}
