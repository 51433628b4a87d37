// The shortest commands: one job on one machine, and no job at all.

import { readFile } from "node:fs/promises";
import { makeWorkspace } from "../test/rig/workspace.js";
import { compare, formatSeconds, type Row } from "./report.js";
import type { Rig } from "./rig.js";
import { takeTurns, timeOf } from "./rounds.js";
import type { Route } from "./routes.js";

const ROUNDS = 11;

interface EchoTrial {
  readonly what: string;
  readonly route: Route;
  /** How long ours may take, in ms. */
  readonly goal: (sshMs: number, nodeMs: number) => number;
  /** The goal in words. */
  readonly goalText: string;
}

export async function oneJob(rig: Rig): Promise<Row[]> {
  return [
    await echo(rig, {
      what: "one `echo` on one machine",
      route: rig.near,
      goal: (ssh, node) => 1.5 * ssh + node,
      goalText: "≤ 1.5× and node's own start",
    }),
    await help(rig),
  ];
}

export async function echo(rig: Rig, { what, route, goal, goalText }: EchoTrial): Promise<Row> {
  const work = await makeWorkspace({ "jobs.sh": "echo hello\n" });
  const isSaid = (path: string) => async () => {
    if ((await readFile(path, "utf8")) !== "hello\n") throw new Error(`${path} is not what was to be said`);
  };
  const ssh = rig.command(["ssh", "-F", route.plainConfig, "one", "echo", "hello"]);
  const { peer, node, ours } = await takeTurns(what, ROUNDS, {
    peer: { ...ssh, check: isSaid(rig.stdout) },
    node: rig.command([process.execPath, "-e", "0"]),
    ours: {
      ...rig.ours(work.dir, { route, machines: 1 }),
      check: isSaid(work.path("job_results/jobs.sh.1.out")),
    },
  });
  await work.remove();
  const row = compare({ what, ours: timeOf(ours), peer: timeOf(peer), peerName: "ssh" });
  const wantedMs = goal(timeOf(peer).median, timeOf(node).median);
  return {
    ...row,
    goal: {
      text: `${goalText}: ${formatSeconds(wantedMs)}`,
      isMet: timeOf(ours).median <= wantedMs,
    },
  };
}

async function help(rig: Rig): Promise<Row> {
  const what = "`execute_batch --help`";
  const { peer, ours } = await takeTurns(what, ROUNDS, {
    peer: rig.command([process.execPath, "-e", "0"]),
    ours: rig.command([process.execPath, rig.program, "--help"]),
  });
  return compare({ what, ours: timeOf(ours), peer: timeOf(peer), peerName: "`node -e 0`" });
}
