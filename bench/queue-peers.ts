// Other queues for jobs on one computer: task-spooler and nq. Without them the rows have no comparison.

import { spawnSync } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import type { Workspace } from "../test/rig/workspace.js";
import type { Rig } from "./rig.js";
import type { Contender } from "./rounds.js";

const PACKAGES = { tsp: "task-spooler", nq: "nq" };

export function hasPeer(program: keyof typeof PACKAGES): boolean {
  const isThere = spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
  if (!isThere) console.error(`no ${program} to compare with: apt-get install ${PACKAGES[program]}`);
  return isThere;
}

/** "adding": until it has its jobs, which begin meanwhile. "running": until all have ended. */
export function tspPeer(
  rig: Rig,
  home: Workspace,
  jobs: number,
  what: "adding" | "running",
  command = "true",
): Contender & { readonly check: () => Promise<void> } {
  const dir = home.path("tsp");
  const end = what === "adding" ? ":" : "tsp -w";
  const script = `i=0; while [ $i -lt ${jobs} ]; do tsp sh -c '${command}' >>ids; i=$((i+1)); done; ${end}`;
  const tsp = (text: string) => [
    "env",
    `TMPDIR=${dir}`,
    `TS_SOCKET=${dir}/socket`,
    "TS_SLOTS=1",
    "sh",
    "-c",
    text,
  ];
  const { run } = rig.command(tsp(script), { cwd: home.dir });
  const finish = async () => {
    await rig.command(tsp("tsp -k; tsp -K; :"), { cwd: home.dir }).run();
  };
  const prepare = async () => {
    await rm(dir, { recursive: true, force: true });
    await mkdir(dir);
  };
  return {
    prepare,
    async run() {
      await mkdir(dir, { recursive: true });
      return run();
    },
    check: finish,
  };
}

export function nqPeer(rig: Rig, home: Workspace, jobs: number): Contender {
  const dir = home.path("nq");
  const script = `i=0; while [ $i -lt ${jobs} ]; do nq -q true; i=$((i+1)); done; nq -w`;
  return {
    ...rig.command(["env", `NQDIR=${dir}`, "sh", "-c", script], { cwd: home.dir }),
    async prepare() {
      await rm(dir, { recursive: true, force: true });
      await mkdir(dir);
    },
  };
}
