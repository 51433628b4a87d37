// The tool `logs`: the end of what jobs printed, or the lines from a number on.

import { LogWindow } from "../answer/log-window.js";
import { choice, whole } from "../call/arguments.js";
import { DIRECTORY, directoryOf } from "../call/host.js";
import { runOwn } from "../call/own-command.js";
import { tool } from "../call/tool.js";
import { saidBy } from "./ask-rows.js";
import { jobsField, plainWords, STATES, stateWords } from "./job-fields.js";

const USUAL_LINES = 50;
const MOST_LINES = 2000;

export const LOGS = tool({
  name: "logs",
  about:
    "Show what jobs printed: the last lines of stdout and stderr of each job, also while it runs. Name jobs, a batch, or states. Pass nextLine of the answer as fromLine to get only lines that came later. Long lines are cut in the middle.",
  does: "looks",
  fields: {
    directory: DIRECTORY,
    jobs: jobsField("all in the states"),
    states: STATES,
    stream: choice("Only this stream [both].", ["out", "err"]),
    lines: whole(`At most so many lines of each stream [${USUAL_LINES}].`, 1, MOST_LINES),
    fromLine: whole(
      "Begin with this line of each stream, from 1, instead of showing the last lines.",
      1,
      1e9,
    ),
  },
  call: async ({ directory, jobs, states, stream, lines = USUAL_LINES, fromLine }, { host, signal }) => {
    const window = new LogWindow({ lines, fromLine: fromLine ?? null });
    const ended = await runOwn({
      host,
      directory: directoryOf(host, directory),
      words: [
        "logs",
        "--json",
        ...(stream === "err" ? ["--err"] : []),
        ...stateWords(states),
        ...plainWords(jobs),
      ],
      signal,
      onRow: (row) => {
        if (stream === undefined || row.stream === stream) window.offer(row);
      },
    });
    return { ...window.answer(), ...saidBy(ended) };
  },
});
