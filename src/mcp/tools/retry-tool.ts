// The tool `retry`: runs jobs again.

import { RowWindow } from "../answer/row-window.js";
import { DIRECTORY, directoryOf } from "../call/host.js";
import { tool } from "../call/tool.js";
import { awaitBatch } from "./await-batch.js";
import { jobsField, plainWords, STATES, stateWords } from "./job-fields.js";
import { envWords, TERMS } from "./need-fields.js";
import { WAIT } from "./run-tool.js";

export const RETRY = tool({
  name: "retry",
  about:
    'Run jobs again, with the options they had. Earlier results move aside, to job_results/NAME.old-1. Name jobs or states, such as states: ["failed", "lost"].',
  does: "adds",
  fields: {
    directory: DIRECTORY,
    jobs: jobsField("all in the states"),
    states: STATES,
    env: TERMS.env,
    waitSeconds: WAIT,
  },
  call: async ({ directory: typed, jobs = [], states, env, waitSeconds }, call) => {
    const directory = directoryOf(call.host, typed);
    envWords(env);
    const words = ["retry", "--json", ...stateWords(states), ...plainWords(jobs)];
    const client = call.host.clients.start({ host: call.host, directory, words, ...(env && { env }) });
    const { started, ...answer } = await awaitBatch({ client, call, waitSeconds, words: [] });
    if (started !== null) return { batch: started.batch, ...answer };
    const window = new RowWindow();
    for (const row of client.rows) window.offer(row);
    return { rows: window.rows, total: window.total, ...answer };
  },
});
