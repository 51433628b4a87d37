// Copying a working directory of many small files to all machines: the first time, again, and after one edit.

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { makeWorkspace, type Workspace } from "../test/rig/workspace.js";
import { countFiles } from "./files.js";
import { lastMoment } from "./moments.js";
import { compare, formatSeconds, type Row } from "./report.js";
import type { Rig } from "./rig.js";
import { type Contender, type Round, takeTurns, timeOf, wallOf } from "./rounds.js";

const DIRECTORIES = 50;
const FILES_EACH = 100;
const FILE_BYTES = 20_000;

export async function staging(rig: Rig): Promise<Row[]> {
  const work = await makeWorkspace({ "jobs.sh": "true\n".repeat(rig.hosts.length) });
  const copies = await makeWorkspace();
  for (let file = 0; file < DIRECTORIES * FILES_EACH; file++)
    await work.write(`data/${file % DIRECTORIES}/${file}`, randomBytes(FILE_BYTES));
  const what = "5,000 files, 100 MB, to 4 machines";
  const first = staged(rig, work, false);
  const again = staged(rig, work, true);
  const edited: Contender = {
    ...again,
    async prepare() {
      await again.prepare?.();
      await work.write("data/0/0", randomBytes(FILE_BYTES));
    },
  };
  const taken = await takeTurns(what, 3, { tar: tar(rig, work, copies), first, again, edited });
  await Promise.all([work.remove(), copies.remove()]);
  const row = (how: string, rounds: Round[]) =>
    compare({
      what: `${what}, ${how}`,
      ours: timeOf(rounds),
      peer: timeOf(taken.tar),
      peerName: "4 × `tar | ssh tar x`",
      note: `${formatSeconds(wallOf(rounds).median)} with a job on each`,
    });
  return [
    row("the first time", taken.first),
    row("unchanged", taken.again),
    row("one file edited", taken.edited),
  ];
}

/** From the start of the command until the tree stands on the last machine. */
function staged(rig: Rig, work: Workspace, keepsTrees: boolean): Contender {
  return {
    ...rig.ours(work.dir, { args: ["--json"], keepsTrees }),
    countMs: async ({ startedAt }) => (await lastMoment(rig.stdout, "staged")) - startedAt,
  };
}

function tar(rig: Rig, work: Workspace, copies: Workspace): Contender {
  const ssh = `ssh -F ${rig.near.plainConfig}`;
  const one = `tar -cf - . | ${ssh} $name "mkdir $0/$name && tar -xf - -C $0/$name" &`;
  const all = `for name in ${rig.hosts.map(({ name }) => name).join(" ")}; do ${one} done; wait`;
  return {
    ...rig.command(["bash", "-c", all, copies.dir], { cwd: work.dir }),
    prepare: async () => {
      await rm(work.path("job_results"), { recursive: true, force: true });
      for (const { name } of rig.hosts) await rm(copies.path(name), { recursive: true, force: true });
    },
    check: async () => countFiles(copies.dir, rig.hosts.length * (DIRECTORIES * FILES_EACH + 1)),
  };
}
