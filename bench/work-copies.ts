// A large working directory and many jobs: the cost of a copy per job.

import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { makeWorkspace } from "../test/rig/workspace.js";
import { countFiles } from "./files.js";
import { firstMoment, lastMoment } from "./moments.js";
import { putAside } from "./put-aside.js";
import { compare, type Row } from "./report.js";
import type { Rig } from "./rig.js";
import { takeTurns, timeOf } from "./rounds.js";

const JOBS = 8;
const FILES = 5000;
const FILE_BYTES = 20_000;

export async function workCopies(rig: Rig): Promise<Row[]> {
  const work = await makeWorkspace({ "jobs.sh": "echo made > result\n".repeat(JOBS) });
  const copies = await makeWorkspace();
  for (let file = 0; file < FILES; file++)
    await work.write(`data/${file % 50}/${file}`, randomBytes(FILE_BYTES));
  const what = `${JOBS} jobs with one small result each and a tree of 5,000 files, 100 MB, on one machine`;
  const two = 'for n in 1 2 3 4; do cp -a "$0" "$1/$2$n"; done';
  const both = `(set -- "$1" a; ${two}) & (set -- "$1" b; ${two}) & wait`;
  const { ours, peer } = await takeTurns(what, 3, {
    peer: {
      ...rig.command(["bash", "-c", both, work.path("data"), copies.dir]),
      check: () => countFiles(copies.dir, JOBS * FILES),
      async prepare() {
        for (const name of await readdir(copies.dir)) await putAside(copies.path(name));
      },
    },
    ours: {
      ...rig.ours(work.dir, { machines: 1, args: ["--json"], keepsTrees: true }),
      countMs: async () =>
        (await lastMoment(rig.stdout, "job-ended")) - (await firstMoment(rig.stdout, "jobs-handed-over")),
    },
  });
  return [
    compare({
      what,
      ours: timeOf(ours),
      peer: timeOf(peer),
      peerName: "`cp -a` of the tree for each, two at a time",
      goal: 0.5,
      note: "from handing over to the end of the last job",
    }),
  ];
}
