// Adds to an error where the options and machines that it names come from: people look for a mistake in what they typed.

import { type Problem, problemsError, UserError } from "../../../errors.js";
import { formatPlace } from "../../../input/config/file-place.js";
import type { Groups } from "../../../input/config/machine-groups.js";
import { oppositeOf } from "../opposites.js";
import type { Setting } from "./config-settings.js";

/** What configuration files give to a command. */
export interface Applied {
  readonly settings: readonly Setting[];
  readonly groups: Groups;
}

/** Any other error stays as it is. */
export function withOrigins(error: unknown, applied: Applied): unknown {
  if (!(error instanceof UserError)) return error;
  const problems = error.problems.map((problem) => withOrigin(hintAtGroup(problem, applied), applied));
  if (problems.some((problem, index) => problem !== error.problems[index])) return problemsError(problems);
  // Each of them has a place of its own, such as a #@ line: a file that sets the same option is not the cause.
  if (problems.length > 0) return error;
  const named = applied.settings.filter((setting) => isNamed(setting, error.message));
  if (named.length === 0) return error;
  const { message, hint, exitCode, cause } = error;
  const undoing = named.flatMap(({ option }) => oppositeOf(option) ?? []).map((flag) => `add ${flag}`);
  return new UserError([message, ...named.map(describeOrigin)].join("; "), {
    hint: [...(hint === undefined ? [] : [hint]), ...undoing].join(", or "),
    exitCode,
    cause,
  });
}

/** A machine that is not found may be a group, typed without its @. */
function hintAtGroup(problem: Problem, { groups }: Applied): Problem {
  const { where, message } = problem;
  const isNotFound = /^(no machine file|is a directory)/.test(message);
  return isNotFound && groups.has(where) ? { ...problem, hint: `did you mean @${where}?` } : problem;
}

function withOrigin(problem: Problem, { settings, groups }: Applied): Problem {
  const { where, message } = problem;
  const group = [...groups].find(([, { machines }]) => machines.includes(where));
  const setting = settings.find((each) => isNamed(each, where) || isMachineOf(each, where));
  if (setting !== undefined) return { ...problem, message: `${message}; ${describeOrigin(setting)}` };
  if (group === undefined) return problem;
  const [name, { place }] = group;
  return { ...problem, message: `${message}; @${name} has it, see ${formatPlace(place)}` };
}

/** Variables add up: those of a file are never what is wrong with a typed one. */
function isNamed({ option }: Setting, text: string): boolean {
  if (option.attributeName() === "env") return false;
  return text.split(/[^\w-]+/).includes(option.long ?? option.short ?? "");
}

function isMachineOf({ option, value }: Setting, name: string): boolean {
  return option.attributeName() === "machines" && Array.isArray(value) && value.includes(name);
}

function describeOrigin({ option, place }: Setting): string {
  return `${option.long ?? option.short} is set in ${formatPlace(place)}`;
}
