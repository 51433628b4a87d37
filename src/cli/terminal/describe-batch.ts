// A batch of this directory as `status` and `wait` show it.

import { type BatchHere, describeHolder, resumeCommand } from "../../batch/find/batches-here.js";
import { batchTimes, jobStatuses } from "../../batch/job-status.js";
import type { Surroundings } from "../../batch/surroundings.js";
import type { BatchStatus } from "../../model/batch-status.js";
import { tildePath } from "../../report/text/tilde-path.js";

export function describeBatch(
  batch: BatchHere,
  closer: Pick<BatchStatus, "lastWords" | "shortages" | "unreached">,
  { homeDir }: Surroundings,
): BatchStatus {
  const now = Date.now();
  return {
    batch: batch.batch,
    stem: batch.stem,
    directory: tildePath(batch.dir, homeDir),
    jobs: jobStatuses(batch, now),
    slots: batch.slots,
    spoolFormats: new Map([...batch.state.machines.values()].map((each) => [each.name, each.spoolFormat])),
    ...batchTimes(batch.state, batch.holder !== null, now),
    follower: batch.holder === null ? null : describeHolder(batch.holder),
    command: resumeCommand(batch),
    ...closer,
  };
}
