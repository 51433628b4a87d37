// The tool `why`: explains why jobs wait, machine by machine.

import { DIRECTORY, directoryOf } from "../call/host.js";
import { tool } from "../call/tool.js";
import { askRows } from "./ask-rows.js";
import { jobsField, limitField, OFFSET, plainWords } from "./job-fields.js";

const USUAL_ROWS = 10;

export const WHY = tool({
  name: "why",
  about:
    "Explain why jobs wait: measures the machines now, and says for each what is short, what makes room first, and which change would be enough. Jobs with equal needs share a row.",
  does: "looks",
  fields: {
    directory: DIRECTORY,
    jobs: jobsField("all that wait in the directory"),
    offset: OFFSET,
    limit: limitField(USUAL_ROWS),
  },
  call: ({ directory, jobs, offset = 0, limit = USUAL_ROWS }, { host, signal }) =>
    askRows({
      host,
      directory: directoryOf(host, directory),
      words: ["why", "--json", ...plainWords(jobs)],
      as: "rows",
      part: { offset, limit },
      signal,
    }),
});
