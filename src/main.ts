// argv in, exit code out: the only file that ends the process.

import { loadConfig } from "./cli/options/config/load-config.js";
import { type Applied, withOrigins } from "./cli/options/config/origins.js";
import { hasJsonWord } from "./cli/options/json-word.js";
import { type Invocation, type Program, parseOptions } from "./cli/options/options.js";
import { ExitCode, formatUserError, UserError } from "./errors.js";
import { errorJson } from "./report/lines/error-json.js";
import { printable } from "./report/text/printable.js";

export async function main(program: Program): Promise<void> {
  // If the reader of the output has left (`| head`), the command continues.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  // These signals pause a batch. Without a listener, Node would open a debugger at the first and end at the second.
  for (const signal of ["SIGUSR1", "SIGUSR2"]) process.on(signal, () => {});
  const code = await dispatch(program).catch((error: unknown) => explainError(error, program));
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
}

async function dispatch(program: Program): Promise<number> {
  const config = await loadConfig();
  let applied: Applied = { settings: [], groups: new Map() };
  const onConfig = (given: Applied) => {
    applied = given;
  };
  try {
    const words = { program, argv: process.argv.slice(2), env: process.env, config, onConfig };
    return await perform(parseOptions(words), program);
  } catch (error) {
    throw withOrigins(error, applied);
  }
}

/** A run makes its directory known by itself; the others have no use for one, and must start fast. */
const FORGETTING = new Set<Invocation["command"]>([
  "answered",
  "run",
  "serve",
  "enqueue",
  "enqueue-open",
  "grass-daemon",
  "grass-stop",
  "grass-create",
  "grass-delete",
  "grass-enqueue",
  "grass-enqueue-open",
  "grass-show",
  "join",
  "mcp",
]);
/** Commands whose words may mean jobs of the queue service. */
const ON_QUEUES = new Set<Invocation["command"]>([
  "status",
  "results",
  "why",
  "wait",
  "logs",
  "stop",
  "retry",
  "drain",
  "undrain",
]);

async function perform(invocation: Invocation, program: Program): Promise<number> {
  if (ON_QUEUES.has(invocation.command)) {
    const { performOnQueue } = await import("./cli/commands/queue/perform-on-queue.js");
    const code = await performOnQueue(invocation);
    if (code !== null) return code;
  }
  if (!FORGETTING.has(invocation.command)) {
    const { rememberHere } = await import("./cli/terminal/remember-here.js");
    rememberHere();
  }
  switch (invocation.command) {
    case "run": {
      const { executeBatch } = await import("./cli/commands/execute-script.js");
      return executeBatch(invocation.options, invocation.revise, program);
    }
    case "probe": {
      const { probeMachines } = await import("./cli/commands/probe-machines.js");
      return probeMachines(invocation.options);
    }
    case "why": {
      const { why } = await import("./cli/commands/explain-waiting-jobs.js");
      return why(invocation.options);
    }
    case "top": {
      const { top } = await import("./cli/commands/top.js");
      return top(invocation.options);
    }
    case "doctor": {
      const { doctor } = await import("./cli/commands/doctor.js");
      return doctor(invocation.options);
    }
    case "status": {
      if (invocation.options.isAll) {
        const { showAllBatches } = await import("./cli/commands/status-all.js");
        return showAllBatches(invocation.options);
      }
      const { showStatus } = await import("./cli/commands/status.js");
      return showStatus(invocation.options);
    }
    case "wait": {
      const { wait } = await import("./cli/commands/wait.js");
      return wait(invocation.options);
    }
    case "results": {
      const { showResults } = await import("./cli/commands/show-results.js");
      return showResults(invocation.options);
    }
    case "logs": {
      const { showLogs } = await import("./cli/commands/logs.js");
      return showLogs(invocation.options);
    }
    case "clean-here": {
      const { cleanThisComputer } = await import("./cli/commands/clean-here.js");
      return cleanThisComputer(invocation.options);
    }
    case "clean": {
      const { cleanMachines } = await import("./cli/commands/clean.js");
      return cleanMachines(invocation.options);
    }
    case "attach": {
      const { attach } = await import("./cli/commands/attach.js");
      return attach(invocation.options);
    }
    case "stop": {
      const { stop } = await import("./cli/commands/stop.js");
      return stop(invocation.options);
    }
    case "retry": {
      const { retry } = await import("./cli/commands/retry.js");
      return retry(invocation.options);
    }
    case "drain":
    case "undrain": {
      const { drain } = await import("./cli/commands/drain.js");
      return drain(invocation.options, invocation.command);
    }
    case "sweep": {
      const { sweep } = await import("./cli/commands/print-sweep.js");
      return sweep(invocation.options, program);
    }
    case "remote": {
      const { executeRemote } = await import("./cli/commands/run-remote.js");
      return executeRemote(invocation.options);
    }
    case "config": {
      const { showConfig } = await import("./cli/commands/show-config.js");
      return showConfig(invocation.options);
    }
    case "completion": {
      const { printCompletion } = await import("./cli/commands/print-completion.js");
      return printCompletion(invocation.options);
    }
    case "complete-words": {
      const { completeWords } = await import("./cli/commands/complete-words.js");
      return completeWords(invocation.options);
    }
    case "serve": {
      const { serve } = await import("./cli/commands/queue/serve.js");
      return serve(invocation.options);
    }
    case "join": {
      const { join } = await import("./cli/commands/queue/join.js");
      return join(invocation.options);
    }
    case "queue": {
      const { manageQueues } = await import("./cli/commands/queue/manage-queues.js");
      const { hintElsewhere } = await import("./cli/commands/queue/hint-elsewhere.js");
      return hintElsewhere(invocation.options.server.typed, () => manageQueues(invocation.options));
    }
    case "enqueue": {
      const { enqueue } = await import("./cli/commands/queue/enqueue.js");
      const { hintElsewhere } = await import("./cli/commands/queue/hint-elsewhere.js");
      return hintElsewhere(invocation.options.server.typed, () => enqueue(invocation.options));
    }
    case "enqueue-open": {
      const { enqueueOpen } = await import("./cli/commands/queue/enqueue.js");
      const { hintElsewhere } = await import("./cli/commands/queue/hint-elsewhere.js");
      return hintElsewhere(invocation.servers.ifQueue.typed, () => enqueueOpen(invocation));
    }
    case "show": {
      const { show } = await import("./cli/commands/queue/show.js");
      const { hintElsewhere } = await import("./cli/commands/queue/hint-elsewhere.js");
      return hintElsewhere(invocation.options.server.typed, () => show(invocation.options));
    }
    case "queued-jobs": {
      const { performOnQueue } = await import("./cli/commands/queue/perform-on-queue.js");
      return (await performOnQueue(invocation)) ?? ExitCode.Success;
    }
    case "grass-daemon":
    case "grass-stop":
    case "grass-create":
    case "grass-delete":
    case "grass-enqueue":
    case "grass-enqueue-open":
    case "grass-show": {
      const { performGrass } = await import("./cli/commands/grass/perform-grass.js");
      return performGrass(invocation);
    }
    case "mcp": {
      const { mcp } = await import("./cli/commands/mcp.js");
      return mcp(invocation.options);
    }
    case "answered":
      return ExitCode.Success;
    default:
      return invocation satisfies never;
  }
}

/** Text for people on stderr, and with --json objects for the program that reads stdout. */
function explainError(error: unknown, program: Program): ExitCode {
  if (isForProgram(process.argv.slice(2), program))
    for (const line of errorJson(error, Date.now())) process.stdout.write(`${line}\n`);
  if (error instanceof UserError) {
    process.stderr.write(printableLines(formatUserError(error)));
    return error.exitCode;
  }
  const stack = error instanceof Error ? error.stack : String(error);
  process.stderr.write(printableLines(`sshoal has a bug, please report it with these lines:\n${stack}\n`));
  return ExitCode.Bug;
}

/** `grass enqueue --json` takes what a job needs. */
function isForProgram(argv: readonly string[], program: Program): boolean {
  return hasJsonWord(argv) && (program !== "grass" || argv[0] === "show");
}

/** An error may repeat what a machine said, or the name of a file. */
function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
