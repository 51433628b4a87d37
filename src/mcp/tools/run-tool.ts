// The tool `run`: starts a batch, or continues one. A client of its own follows it, also when this server has ended.

import { UserError } from "../../errors.js";
import { flag, list, type ValuesOf, whole, word } from "../call/arguments.js";
import type { BackgroundClient } from "../call/background-clients.js";
import { DIRECTORY, directoryOf } from "../call/host.js";
import { type Answer, type Call, tool } from "../call/tool.js";
import { askRows } from "./ask-rows.js";
import { awaitBatch } from "./await-batch.js";
import { writeScript } from "./batch-script.js";
import { COMMANDS, envWords, NEED, needWords, TERMS } from "./need-fields.js";
import { LONGEST_WAIT_SECONDS } from "./status-tool.js";

const MOST_PATHS = 1000;
export const MACHINES = list(
  "Machines: files, ssh aliases, user@host:port, or @group [this computer, or what a configuration file says].",
  word("A machine."),
  1000,
);

export const WAIT = whole(
  "Wait so many seconds for the end of the jobs, and answer with their status [0: answer at once].",
  0,
  LONGEST_WAIT_SECONDS,
);

const FIELDS = {
  directory: DIRECTORY,
  commands: COMMANDS,
  name: word(
    "With commands: the name of the batch. They are written to NAME.sh [a name made from the commands].",
  ),
  replace: flag(
    "With commands and a name: the batch of this name gets these commands. Only new and changed commands run [false].",
  ),
  script: word("A batch file, instead of commands: one command per line, in the directory."),
  batch: word(
    "A batch that was run before, instead of commands: collect its results and start waiting jobs, with the options that it had.",
  ),
  machines: MACHINES,
  ...NEED,
  ...TERMS,
  copyForward: list(
    "With machines: copy only these files and directories to them [the whole directory].",
    word("A path in the directory."),
    MOST_PATHS,
  ),
  copyBackwards: list(
    "With machines: collect results only from these paths [all that is new or changed].",
    word("A path in the directory."),
    MOST_PATHS,
  ),
  dryRun: flag("Start nothing: answer with the jobs that would start first, and with mistakes [false]."),
  waitSeconds: WAIT,
} as const;

type Asked = ValuesOf<typeof FIELDS>;

export const RUN = tool({
  name: "run",
  about:
    "Run commands as jobs of a batch on free slots of machines, and answer at once with the name of the batch. Needs no queue service. A job needs a GPU unless gpus is 0. Jobs run on when this server ends. The same call again continues the batch: commands that already ran do not run again.",
  does: "adds",
  fields: FIELDS,
  call: run,
});

async function run(asked: Asked, call: Call): Promise<Answer> {
  const directory = directoryOf(call.host, asked.directory);
  const kind = kindOf(asked);
  if (kind === "batch") return attach(asked, directory, call);
  const { commands = [], name, replace: replaces = false } = asked;
  const env = envWords(asked.env);
  const script =
    kind === "script" ? (asked.script ?? "") : await writeScript({ directory, commands, name, replaces });
  const words = ["run", "--json", ...needWords(asked), ...env, ...runWords(asked)];
  const order = { host: call.host, directory, ...(asked.env && { env: asked.env }) };
  if (asked.dryRun)
    return {
      script,
      ...(await askRows({
        ...order,
        words: [...words, "--dry-run", "--", script],
        as: "events",
        signal: call.signal,
      })),
    };
  const client = call.host.clients.start({ ...order, words: [...words, "--", script] });
  return begun(client, script, asked, call);
}

async function attach(asked: Asked, directory: string, call: Call): Promise<Answer> {
  const { batch = "", env, machines, waitSeconds: _, directory: __, ...others } = asked;
  const [odd] = Object.keys(others).filter((key) => key !== "batch");
  if (odd !== undefined)
    throw new UserError(`${odd}: a batch that was run before keeps its options`, {
      hint: "leave it out, or name the script again instead of the batch",
    });
  envWords(env);
  const words = ["attach", "--json", ...many("--machines", machines), "--", batch];
  const client = call.host.clients.start({ host: call.host, directory, words, ...(env && { env }) });
  return begun(client, batch, asked, call);
}

async function begun(
  client: BackgroundClient,
  batch: string,
  { waitSeconds }: Asked,
  call: Call,
): Promise<Answer> {
  const { started, ...answer } = await awaitBatch({ client, call, waitSeconds, words: [batch] });
  if (started === null) return answer;
  const { batch: identity, script, jobs, machines } = started;
  return {
    batch: identity,
    script,
    jobs: countOf(jobs),
    firstJobs: listOf(jobs).slice(0, FIRST_JOBS),
    machines: listOf(machines)
      .slice(0, FIRST_JOBS)
      .map((machine) => (machine as { name?: unknown }).name),
    ...answer,
  };
}

const FIRST_JOBS = 20;

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function countOf(value: unknown): number {
  return listOf(value).length;
}

/** Throws UserError unless exactly one of three is given. */
function kindOf({ commands, script, batch }: Asked): "commands" | "script" | "batch" {
  const given = Object.entries({ commands, script, batch }).flatMap(([kind, value]) =>
    value === undefined ? [] : [kind as "commands" | "script" | "batch"],
  );
  const [kind] = given;
  if (kind !== undefined && given.length === 1) return kind;
  throw new UserError(
    given.length === 0 ? "what is to run?" : `${given.join(" and ")}: give only one of these`,
    { hint: 'commands: ["python train.py"], or script: "jobs.sh", or batch: a batch that was run before' },
  );
}

function runWords({ machines, retries, copyForward, copyBackwards }: Asked): string[] {
  return [
    ...(retries === undefined ? [] : ["--retries", `${retries}`]),
    ...many("--copy-forward", copyForward),
    ...many("--copy-backwards", copyBackwards),
    ...many("--machines", machines),
  ];
}

function many(flag: string, words: readonly string[] | undefined): string[] {
  return words === undefined ? [] : [flag, ...words];
}
