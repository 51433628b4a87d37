// The tool `enqueue`: gives jobs to the queue service.

import { UserError } from "../../errors.js";
import { flag, list, type ValuesOf, whole, word } from "../call/arguments.js";
import { DIRECTORY, directoryOf } from "../call/host.js";
import { runOwn } from "../call/own-command.js";
import { type Answer, type Call, tool } from "../call/tool.js";
import { askRows } from "./ask-rows.js";
import { batchText } from "./batch-text.js";
import { COMMANDS, envWords, NEED, needWords, TERMS } from "./need-fields.js";

const MOST_AFTER = 1000;

const FIELDS = {
  directory: DIRECTORY,
  commands: COMMANDS,
  queue: word('The name of the queue ["default"].'),
  ...NEED,
  ...TERMS,
  priority: whole("Jobs with a larger number start first [0].", -499, 499),
  after: list(
    "Jobs of the queue, by number or name, that must succeed before these begin.",
    word("A job."),
    MOST_AFTER,
  ),
  cwd: word(
    "The directory in which the jobs run; of a service on another computer, one there [that of the queue, or directory].",
  ),
  freeze: flag(
    "Run the jobs in a copy of the directory as it is now, which is also sent to a service on another computer [false].",
  ),
  startService: flag(
    "Start the queue service if it does not run. It stays until `sshoal serve stop` [false: an error says so].",
  ),
} as const;

export const ENQUEUE = tool({
  name: "enqueue",
  about:
    'Add jobs to a queue of the queue service, which starts them when their resources are free. Answers with their names, such as "train/7", which the other tools take as jobs. A job needs one core and no GPU, unless arguments say more.',
  does: "adds",
  required: ["commands"],
  fields: FIELDS,
  call: async (asked, call) => {
    try {
      return await enqueue(asked, call);
    } catch (error) {
      if (!isNotRunning(error)) throw error;
      if (asked.startService !== true) throw withStart(error);
      const { host } = call;
      const directory = directoryOf(host, asked.directory);
      await runOwn({ host, directory, words: ["serve", "--json"], onRow: () => {} });
      return enqueue(asked, call);
    }
  },
});

async function enqueue(asked: ValuesOf<typeof FIELDS>, { host }: Call): Promise<Answer> {
  const {
    commands = [],
    queue,
    priority,
    cwd,
    freeze,
    after,
    retries,
    env,
    startService: _,
    ...need
  } = asked;
  const directory = directoryOf(host, asked.directory);
  const words = [
    ...(queue === undefined ? [] : [queue]),
    "-",
    "--json",
    ...needWords(need),
    ...envWords(env),
    ...(retries === undefined ? [] : ["--retries", `${retries}`]),
    ...(priority === undefined ? [] : [`--priority=${priority}`]),
    ...(cwd === undefined ? [] : ["--cwd", cwd]),
    ...(freeze ? ["--freeze"] : []),
    ...(after === undefined ? [] : ["--after", after.join(",")]),
  ];
  const stdin = await batchText(commands);
  // `enqueue` would take the name of an unknown queue for a command.
  const asking = ["show", "--json", "--limit", "1", "--", queue ?? ""];
  if (queue !== undefined) await runOwn({ host, directory, words: asking, onRow: () => {} });
  const order = { host, directory, stdin, ...(env && { env }) };
  const { nextOffset: __, ...answer } = await askRows({ ...order, words: ["enqueue", ...words], as: "rows" });
  return answer;
}

const START = "sshoal serve";

/** The service of this computer: one on another computer has another hint, and is not for us to start. */
function isNotRunning(error: unknown): error is UserError {
  return error instanceof UserError && error.hint === START;
}

/** Starting is for the caller to ask for, because the service stays when this server has ended. */
function withStart(error: UserError): UserError {
  const hint = `${START} in a shell, or the same call with startService: true; run needs no service`;
  return new UserError(error.message, { hint, exitCode: error.exitCode, cause: error });
}
