// Large output and large results: the client's memory stays small, and the connection is used well.

import { execFileSync } from "node:child_process";
import { rm } from "node:fs/promises";
import { makeWorkspace } from "../test/rig/workspace.js";
import { countBytes } from "./files.js";
import { lastMoment } from "./moments.js";
import { compare, formatMegabytes, formatSeconds, type Row } from "./report.js";
import type { Rig } from "./rig.js";
import { peakOf, takeTurns, timeOf, wallOf } from "./rounds.js";

const PRINTED_BYTES = 200e6;
const RESULT_BYTES = 2e9;

export async function manyBytes(rig: Rig): Promise<Row[]> {
  return [await printed(rig), ...(await largeResult(rig))];
}

async function printed(rig: Rig): Promise<Row> {
  const work = await makeWorkspace({ "jobs.sh": `yes ${"x".repeat(79)} | head -c ${PRINTED_BYTES}\n` });
  const what = "a job that prints 200 MB: the client's peak memory";
  const { ours } = await takeTurns(what, 5, {
    ours: {
      ...rig.ours(work.dir, { machines: 1 }),
      check: () => countBytes(work.path("job_results/jobs.sh.1.out"), PRINTED_BYTES),
    },
  });
  await work.remove();
  return {
    what,
    ours: formatMegabytes(peakOf(ours)),
    goal: { text: "< 150 MB", isMet: peakOf(ours).median < 150e6 },
    note: `${formatSeconds(wallOf(ours).median)} in total`,
  };
}

async function largeResult(rig: Rig): Promise<Row[]> {
  const work = await makeWorkspace({ "jobs.sh": `head -c ${RESULT_BYTES} /dev/urandom > big\n` });
  const other = await makeWorkspace();
  execFileSync("sh", ["-c", `head -c ${RESULT_BYTES} /dev/urandom > big`], { cwd: other.dir });
  const copy = other.path("copy");
  const what = "a result of 2 GB";
  const { peer, ours } = await takeTurns(what, 3, {
    peer: {
      ...rig.command(["ssh", "-F", rig.near.plainConfig, "one", "cat", other.path("big")], { stdout: copy }),
      check: () => countBytes(copy, RESULT_BYTES),
    },
    ours: {
      ...rig.ours(work.dir, { machines: 1, args: ["--json"] }),
      async check() {
        await countBytes(work.path("job_results/jobs.sh.1/big"), RESULT_BYTES);
        await rm(work.path("job_results/jobs.sh.1/big"));
      },
      // From the job's end until its result is in place.
      countMs: async () =>
        (await lastMoment(rig.stdout, "job-collected")) - (await lastMoment(rig.stdout, "job-ended")),
    },
  });
  await Promise.all([work.remove(), other.remove()]);
  const speed = (ms: number) => `${Math.round(RESULT_BYTES / 1000 / ms)} MB/s`;
  const [mine, theirs] = [timeOf(ours), timeOf(peer)];
  return [
    compare({
      what,
      ours: mine,
      peer: theirs,
      peerName: "`ssh cat`",
      goal: 1 / 0.8,
      note: `${speed(mine.median)}, ssh ${speed(theirs.median)}`,
    }),
    {
      what: `${what}: the client's peak memory`,
      ours: formatMegabytes(peakOf(ours)),
      goal: { text: "< 150 MB", isMet: peakOf(ours).median < 150e6 },
    },
  ];
}
