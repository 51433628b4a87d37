// Many small results: the cost of collecting them.

import { makeWorkspace } from "../test/rig/workspace.js";
import { countFiles } from "./files.js";
import { putAside } from "./put-aside.js";
import { compare, type Row } from "./report.js";
import type { Rig } from "./rig.js";
import { takeTurns, timeOf } from "./rounds.js";

const JOBS = 1000;
const ENDINGS = ["a", "b", "c"];

export async function manyResults(rig: Rig): Promise<Row[]> {
  const lines = (text: (job: number) => string) =>
    Array.from({ length: JOBS }, (_, job) => `${text(job)}\n`).join("");
  const writing = (stem: string) => ENDINGS.map((ending) => `echo ${ending} > ${stem}.${ending}`).join("; ");
  const work = await makeWorkspace({ "jobs.sh": lines((job) => writing(`${job}`)) });
  const home = await makeWorkspace({ numbers: lines(String) });
  const away = await makeWorkspace();
  const what = "1,000 jobs with 3 small results each";
  const returns = ENDINGS.flatMap((ending) => ["--return", `{}.${ending}`]);
  const fetching = ["--workdir", away.dir, "--cleanup", ...returns, "--arg-file", "numbers", writing("{}")];
  const parallel = rig.parallel(home.dir, fetching);
  // The peer takes minutes, so one round is enough.
  const { peer, ours } = await takeTurns(what, 1, {
    peer: {
      ...parallel,
      async prepare() {
        await parallel.prepare?.();
        for (let job = 0; job < JOBS; job++)
          for (const ending of ENDINGS) await putAside(home.path(`${job}.${ending}`));
      },
      check: () => countFiles(home.dir, JOBS * ENDINGS.length + 1),
    },
    ours: {
      ...rig.ours(work.dir),
      // Also counts the .out and .err of each job, and the record of the batch.
      check: () => countFiles(work.path("job_results"), JOBS * (ENDINGS.length + 2) + 1),
    },
  });
  return [
    compare({
      what,
      ours: timeOf(ours),
      peer: timeOf(peer),
      peerName: "parallel `--return`, ControlMaster",
      goal: 1 / 5,
    }),
  ];
}
