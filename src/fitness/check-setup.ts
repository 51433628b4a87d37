// Checks whether the machine file's `setup:` and `wrap:` work, and suggests the usual fix if it does not.

import type { Check, HostFacts, SetupTrial } from "../model/examination.js";
import type { MachineSpec } from "../model/machine.js";
import type { Patient } from "./patient.js";

export function checkSetup({ spec, examination: { facts }, treeNames }: Patient): Check[] {
  const { setup: trial } = facts;
  if (trial === null) return [];
  switch (trial.kind) {
    case "worked":
      return [workedCheck(trial, facts, spec)];
    case "too-long":
      return [bad(`still running after ${trial.seconds} s`, tryIt(spec))];
    case "failed":
      return [failedCheck(trial, { spec, facts, treeNames })];
    default:
      return trial satisfies never;
  }
}

type Worked = Extract<SetupTrial, { kind: "worked" }>;
type Failed = Extract<SetupTrial, { kind: "failed" }>;

/** The exit code is that of its last line only; an earlier line may have failed. */
function workedCheck({ python, said }: Worked, facts: HostFacts, spec: MachineSpec): Check {
  const trouble = said.find((line) => TROUBLE.test(line));
  if (trouble !== undefined)
    return {
      check: "setup",
      verdict: "warn",
      says: `it succeeds, but prints: ${trouble}`,
      fix: remedy(said, facts) ?? tryIt(spec),
    };
  const says = python === null ? "works" : `works; python is ${python}`;
  return { check: "setup", verdict: "ok", says, fix: null };
}

const TROUBLE = /not found|no such file|command not|error|cannot|unable|denied/i;

interface Circumstances extends Pick<Patient, "spec" | "treeNames"> {
  readonly facts: HostFacts;
}

function failedCheck({ code, said }: Failed, { spec, facts, treeNames }: Circumstances): Check {
  const words = said.find((line) => TROUBLE.test(line)) ?? said[0];
  const says = words === undefined ? `fails without output (exit code ${code})` : `fails: ${words}`;
  const used = treeNames.find((name) => mentions(spec, name));
  if (used === undefined) return bad(says, remedy(said, facts) ?? tryIt(spec));
  return {
    check: "setup",
    verdict: "warn",
    says: `${says}; but it uses ${used} of the working directory, which jobs have and this trial did not`,
    fix: "run one job to check",
  };
}

/** As a path, or as a script that is run or read; other words may mean anything, as in `conda activate`. */
function mentions({ setup }: MachineSpec, name: string): boolean {
  return setup.some((line) => {
    const words = line.split(/[\s;&|()"'=]+/);
    return words.some(
      (word, index) =>
        [`./${name}`, name].some((path) => word.startsWith(`${path}/`)) ||
        word === `./${name}` ||
        (word === name && RUNNERS.has(words[index - 1] ?? "")),
    );
  });
}

const RUNNERS: ReadonlySet<string> = new Set([".", "source", "sh", "bash"]);

/** Jobs are not run by a login shell, so settings in ~/.bashrc do not apply. Null: no fix is known. */
function remedy(said: readonly string[], { condaDir, modulesFile }: HostFacts): string | null {
  const text = said.join("\n");
  if (/conda/i.test(text) && /command not found|not found|conda init|properly configured/i.test(text)) {
    return condaDir === null
      ? "install conda on the machine, or put before it in setup: . /where/conda/is/etc/profile.d/conda.sh"
      : `put before it in setup: . ${condaDir}/etc/profile.d/conda.sh`;
  }
  if (/\b(module|ml): (command )?not found/.test(text))
    return `put before it in setup: . ${modulesFile ?? "/etc/profile.d/modules.sh"}`;
  const activate = /(\S+)\/bin\/activate: (No such file|not found)/i.exec(text)?.[1];
  if (activate !== undefined)
    return `create it on the machine: python3 -m venv ${activate.replace(/^.*: /, "")}`;
  return null;
}

function tryIt({ setup, wrap = [] }: MachineSpec): string {
  const lines = wrap.length === 0 ? setup : [...setup, `${wrap.join(" ")} true`];
  return `log in to it and try: ${lines.join("; ").split("\n", 1)[0]}`;
}

function bad(says: string, fix: string): Check {
  return { check: "setup", verdict: "bad", says, fix };
}
