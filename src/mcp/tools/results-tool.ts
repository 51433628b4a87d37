// The tool `results`: a table of the jobs of a batch, with parameters and metrics.

import { flag, word } from "../call/arguments.js";
import { DIRECTORY, directoryOf } from "../call/host.js";
import { tool } from "../call/tool.js";
import { askRows } from "./ask-rows.js";
import { BATCH, FIELDS, limitField, OFFSET, plainWords } from "./job-fields.js";

const USUAL_ROWS = 50;

export const RESULTS = tool({
  name: "results",
  about:
    'Show the results of a batch: one row per job with state, outcome, parameters, metrics, times and memory. A job leaves metrics by printing a line such as "sshoal: acc=0.91 loss=0.2". Its files are in job_results/NAME/, its output in job_results/NAME.out and .err.',
  does: "looks",
  fields: {
    directory: DIRECTORY,
    batch: BATCH,
    sort: word("Sort by a metric, a parameter, or another column such as seconds [the order of the batch]."),
    descending: flag("With sort: the largest first [false]."),
    offset: OFFSET,
    limit: limitField(USUAL_ROWS),
    fields: FIELDS,
  },
  call: (
    { directory, batch, sort, descending, offset = 0, limit = USUAL_ROWS, fields = [] },
    { host, signal },
  ) =>
    askRows({
      host,
      directory: directoryOf(host, directory),
      words: [
        "results",
        "--json",
        ...(sort === undefined ? [] : [`--sort=${descending ? "-" : ""}${sort}`]),
        ...plainWords(batch === undefined ? [] : [batch]),
      ],
      as: "rows",
      part: { offset, limit, fields },
      signal,
    }),
});
