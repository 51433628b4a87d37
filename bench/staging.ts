// Copies a working directory of many small files to all machines: the first time, again, and after one edit.

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { makeWorkspace, type Workspace } from "../test/rig/workspace.js";
import { countFiles } from "./files.js";
import { lastMoment } from "./moments.js";
import { putAside } from "./put-aside.js";
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
  const sync = rsync(rig, work, copies);
  const taken = await takeTurns(what, 3, {
    tar: tar(rig, work, copies),
    first,
    rsync: sync.first,
    again,
    rsyncAgain: sync.again,
    edited,
    rsyncEdited: sync.edited,
  });
  const edit = await sentBytes(rig, edited);
  const row = (how: string, ours: Round[], peer: Round[], peerName: string, goal?: number) =>
    compare({
      what: `${what}, ${how}`,
      ours: timeOf(ours),
      peer: timeOf(peer),
      peerName,
      ...(goal !== undefined && { goal }),
      note: `${formatSeconds(wallOf(ours).median)} with a job on each`,
    });
  return [
    row("the first time", taken.first, taken.tar, "4 × `tar | ssh tar x`", 1.2),
    row("the first time", taken.first, taken.rsync, "4 × `rsync -a`", 1),
    row("unchanged", taken.again, taken.rsyncAgain, "4 × `rsync -a`", 1),
    row("one file edited", taken.edited, taken.rsyncEdited, "4 × `rsync -a`"),
    {
      what: `${what}, one file edited: file bytes sent to each`,
      ours: `${edit}`,
      goal: { text: `= ${FILE_BYTES}`, isMet: edit === FILE_BYTES },
    },
  ];
}

/** The most bytes that any machine got in one more round. */
async function sentBytes(rig: Rig, contender: Contender): Promise<number> {
  await contender.prepare?.();
  await contender.run();
  const lines = (await readFile(rig.stdout, "utf8")).trimEnd().split("\n");
  const events = lines.map((line) => JSON.parse(line) as { kind: string; totalBytes?: number });
  return Math.max(...events.map(({ kind, totalBytes = 0 }) => (kind === "staging" ? totalBytes : 0)));
}

/** From the start of the command until the tree is on the last machine. */
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
      await putAside(work.path("job_results"));
      for (const { name } of rig.hosts) await putAside(copies.path(name));
    },
    check: async () => {
      for (const { name } of rig.hosts) await countFiles(copies.path(name), DIRECTORIES * FILES_EACH + 1);
    },
  };
}

function rsync(
  rig: Rig,
  work: Workspace,
  copies: Workspace,
): Record<"first" | "again" | "edited", Contender> {
  const one = `rsync -a -e "ssh -F ${rig.near.plainConfig}" ./ $name:$0/by-rsync-$name/ &`;
  const all = `for name in ${rig.hosts.map(({ name }) => name).join(" ")}; do ${one} done; wait`;
  const again: Contender = {
    ...rig.command(["bash", "-c", all, copies.dir], { cwd: work.dir }),
    prepare: () => putAside(work.path("job_results")),
  };
  return {
    again,
    first: {
      ...again,
      async prepare() {
        await again.prepare?.();
        for (const { name } of rig.hosts) await putAside(copies.path(`by-rsync-${name}`));
      },
      check: async () => {
        for (const { name } of rig.hosts)
          await countFiles(copies.path(`by-rsync-${name}`), DIRECTORIES * FILES_EACH + 1);
      },
    },
    edited: {
      ...again,
      async prepare() {
        await again.prepare?.();
        await work.write("data/0/0", randomBytes(FILE_BYTES));
      },
    },
  };
}
