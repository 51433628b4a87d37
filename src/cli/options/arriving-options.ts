// Reads the #@ lines of jobs that arrive one by one, on stdin or in a growing file.

import type { ArrivingLines, ReadOwnTerms } from "../../batch/feed/feeding.js";
import { type Copying, resolveCopying } from "../../batch/forward/copy-paths.js";
import { keepingCopy, resolveOwn } from "../../batch/forward/own-copying.js";
import { problemsError } from "../../errors.js";
import type { OptionLine } from "../../input/batch/job-splitter.js";
import type { Job } from "../../model/job.js";
import type { OwnTerms } from "../../run/feed.js";
import { OptionReader, type RawScript } from "./option-reader.js";
import type { Environment } from "./option-values.js";
import type { Revise } from "./revise-run.js";
import type { RunOptions } from "./run-options.js";
import {
  askedDependencies,
  copyingOf,
  FOR_A_JOB,
  FOR_BOTH,
  findNameProblems,
  ownTermsOf,
} from "./script-options.js";

export interface ArrivingSource {
  /** The source's name for people. */
  readonly name: string;
  readonly revise: Revise;
  readonly env: Environment;
  readonly workingDir: string;
}

/** The result throws UserError with every mistake of the lines. */
export function arrivingOptions(source: ArrivingSource): ReadOwnTerms {
  // Many jobs may have the same lines.
  const known = new Map<string, OwnTerms>();
  return (lines) => {
    const text = JSON.stringify([lines.forAll, lines.own].map((each) => each.map((line) => line.text)));
    const terms = known.get(text) ?? readTerms(lines, source);
    if (terms.namedAt === undefined && terms.after === undefined) known.set(text, terms);
    return terms;
  };
}

function readTerms({ forAll, own, line }: ArrivingLines, source: ArrivingSource): OwnTerms {
  const { name, revise, env } = source;
  const reader = new OptionReader(name, env);
  const below = reader.read(forAll, FOR_BOTH, "for all jobs that arrive");
  const above = reader.read(own, FOR_A_JOB, "for one job that arrives");
  const set: Partial<RawScript> = { ...below, ...above };
  const whereIs = placeIn([...own, ...forAll], name, line);
  reader.problems.push(...findNameProblems([{ set, whereIs }]));
  const revised = reader.problems.length > 0 ? null : reader.check(whereIs(""), () => revise(below, above));
  const job = revised && ownJob(set, revised, { source, whereIs, reader });
  if (job === null || reader.problems.length > 0) throw problemsError(reader.problems);
  const after = askedDependencies({ set, whereIs });
  return {
    job,
    ...(set.name !== undefined && { namedAt: whereIs("--name") }),
    ...(after.length > 0 && { after }),
    ...(set.env !== undefined && revised && { env: revised.env }),
  };
}

/** The place of an option: `queue:3`. */
function placeIn(lines: readonly OptionLine[], name: string, line: number): (flag: string) => string {
  return (flag) => `${name}:${lines.find(({ text }) => text.includes(flag))?.line ?? line}`;
}

interface Reading {
  readonly source: ArrivingSource;
  readonly whereIs: (flag: string) => string;
  readonly reader: OptionReader;
}

/** Mistakes in paths are added to those of the reader. */
function ownJob(
  set: Partial<RawScript>,
  revised: RunOptions,
  { source, whereIs, reader }: Reading,
): OwnTerms["job"] {
  const common = source.revise({});
  const { workingDir } = source;
  const copying: Copying = resolveCopying(common, workingDir);
  const asked = copyingOf(set, whereIs);
  const paths: Pick<Job, "copyForward" | "copyBack"> =
    asked === null ? {} : resolveOwn(asked, copying, { workingDir, problems: reader.problems });
  const job = {
    ...ownTermsOf(set, revised, common.requirement),
    ...paths,
    ...(set.name !== undefined && { label: set.name }),
  };
  return copying.inPlace === null ? job : keepingCopy(job, common.keepsDir);
}
