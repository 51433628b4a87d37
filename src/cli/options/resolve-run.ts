// Turns what was typed for `run` into its options.

import type { Command } from "commander";
import { UserError } from "../../errors.js";
import { attendedHalt } from "./halt-option.js";
import { resolveMachines } from "./machine-options.js";
import { resolveNotify } from "./notify-options.js";
import { type Environment, toAssignment, variableOf } from "./option-values.js";
import { pathsIn } from "./path-words.js";
import { requireScript } from "./require-script.js";
import type { RawRun, RunOptions } from "./run-options.js";

export function resolveRun(
  script: string | undefined,
  raw: RawRun,
  command: Command,
  env: Environment,
): RunOptions {
  const follows = raw.follow !== undefined;
  const isKabuki = raw.kabukiCommands ?? false;
  if (isKabuki && (follows || script === "-")) {
    throw new UserError(
      "--kabuki-commands takes a script, whose lines are all known before the first job starts",
      {
        hint: "cat > jobs.sh, then execute_batch jobs.sh --kabuki-commands",
      },
    );
  }
  return { ...resolveRunOptions(raw, env), script: requireScript(script, raw, command), follows, isKabuki };
}

export function resolveRunOptions(raw: RawRun, env: Environment): Omit<RunOptions, "script"> {
  return {
    ...resolveMachines(raw),
    follows: false,
    isKabuki: false,
    copyForward: pathsIn(raw.copyForward),
    copyBackwards: pathsIn(raw.copyBackwards),
    copiesUnchanged: raw.copyUnchanged ?? false,
    exclude: raw.exclude ?? [],
    maxSend: raw.maxSend ?? null,
    keepsDir: raw.keepDir ?? false,
    mergesOutput: raw.merge ?? false,
    maxOutput: raw.maxOutput === undefined || raw.maxOutput === "none" ? null : raw.maxOutput,
    maxOld: raw.maxOld === undefined || !Number.isFinite(raw.maxOld) ? null : raw.maxOld,
    wrap: raw.wrap ?? null,
    env: Object.fromEntries(
      [...(raw.envByDefault ?? []), ...(raw.env ?? [])].map((assignment) => toAssignment(assignment, env)),
    ),
    envFromFiles: namesOnlyIn(raw.envByDefault ?? [], raw.env ?? []),
    timeoutSeconds: raw.timeout ?? null,
    isDryRun: raw.dryRun ?? false,
    detaches: raw.detach ?? false,
    tees: raw.tee ?? false,
    pausesOnCrash: raw.pause ?? true,
    notify: resolveNotify(raw),
    policy: {
      retries: raw.retries,
      retriesFailures: raw.retryOnFailure ?? false,
      ...(raw.retryOnOom && { retriesOutOfMemory: true }),
      reassignAfterMs: Number.isFinite(raw.reassignAfter) ? raw.reassignAfter * 1000 : null,
      halt: raw.halt === "never" ? null : attendedHalt(raw.halt, raw.detach ?? false),
    },
    rerun: raw.rerun ?? (raw.retryFailed ? "failed" : "stopped"),
    keepsChanged: isKeepingChanged(raw),
    voice: "sshoal",
  };
}

function namesOnlyIn(some: readonly string[], others: readonly string[]): string[] {
  const taken = new Set(others.map(variableOf));
  return [...new Set(some.map(variableOf))].filter((name) => !taken.has(name));
}

function isKeepingChanged({ keepChanged, rerun }: RawRun): boolean {
  if (keepChanged === undefined || rerun !== "changed") return keepChanged ?? false;
  throw new UserError("--keep-changed and --rerun changed cannot be combined", { hint: "leave one out" });
}
