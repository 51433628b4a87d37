// argv in, exit code out: the only file that ends the process.

import { type Program, parseOptions } from "./cli/options/options.js";
import { ExitCode, formatUserError, UserError } from "./errors.js";

export async function main(program: Program): Promise<void> {
  // If the reader of the output has left (`| head`), the command continues.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  // These signals pause a batch. Without a listener, Node would open a debugger at the first and end at the second.
  for (const signal of ["SIGUSR1", "SIGUSR2"]) process.on(signal, () => {});
  const code = await dispatch(program).catch(explainError);
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
}

async function dispatch(program: Program): Promise<number> {
  const invocation = parseOptions({ program, argv: process.argv.slice(2), env: process.env });
  switch (invocation.command) {
    case "run": {
      const { executeBatch } = await import("./cli/commands/execute-script.js");
      return executeBatch(invocation.options, invocation.revise, program);
    }
    case "probe": {
      const { probeMachines } = await import("./cli/commands/probe-machines.js");
      return probeMachines(invocation.options);
    }
    case "doctor": {
      const { doctor } = await import("./cli/commands/doctor.js");
      return doctor(invocation.options);
    }
    case "status": {
      const { showStatus } = await import("./cli/commands/status.js");
      return showStatus(invocation.options);
    }
    case "results": {
      const { showResults } = await import("./cli/commands/show-results.js");
      return showResults(invocation.options);
    }
    case "logs": {
      const { showLogs } = await import("./cli/commands/logs.js");
      return showLogs(invocation.options);
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
    case "answered":
      return ExitCode.Success;
    default:
      return invocation satisfies never;
  }
}

function explainError(error: unknown): ExitCode {
  if (error instanceof UserError) {
    process.stderr.write(formatUserError(error));
    return error.exitCode;
  }
  const stack = error instanceof Error ? error.stack : String(error);
  process.stderr.write(`sshoal has a bug, please report it with these lines:\n${stack}\n`);
  return ExitCode.Bug;
}
