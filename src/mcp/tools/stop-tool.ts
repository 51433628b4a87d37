// The tool `stop`: ends jobs with all their processes.

import { DIRECTORY, directoryOf } from "../call/host.js";
import { tool } from "../call/tool.js";
import { askRows } from "./ask-rows.js";
import { jobsField, plainWords, STATES, stateWords } from "./job-fields.js";

export const STOP = tool({
  name: "stop",
  about:
    "Stop jobs, or a whole batch, with all their processes, and collect what they wrote. Name jobs or states. One row per job with its state afterwards.",
  does: "ends",
  fields: { directory: DIRECTORY, jobs: jobsField("all in the states"), states: STATES },
  // Without the signal: a stop that has begun is not left half done.
  call: async ({ directory, jobs, states }, { host }) => {
    const words = ["stop", "--json", ...stateWords(states), ...plainWords(jobs)];
    const { nextOffset: _, ...answer } = await askRows({
      host,
      directory: directoryOf(host, directory),
      words,
      as: "rows",
    });
    return answer;
  },
});
