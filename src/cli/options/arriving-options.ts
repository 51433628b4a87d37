// Reads the #@ lines of jobs that arrive one by one, on stdin or in a growing file.

import type { ArrivingLines, ReadOwnTerms } from "../../batch/feeding.js";
import { problemsError } from "../../errors.js";
import type { OwnTerms } from "../../run/feed.js";
import { OptionReader } from "./option-reader.js";
import type { Environment } from "./option-values.js";
import type { Revise } from "./run-options.js";
import { FOR_ARRIVING, ownTermsOf } from "./script-options.js";

/** `name`: the source's name for people. The result throws UserError with every mistake of the lines. */
export function arrivingOptions(name: string, revise: Revise, env: Environment): ReadOwnTerms {
  // Many jobs may have the same lines.
  const known = new Map<string, OwnTerms>();
  return (lines) => {
    const text = JSON.stringify([lines.forAll, lines.own].map((each) => each.map((line) => line.text)));
    const terms = known.get(text) ?? readTerms(lines, new OptionReader(name, env), { name, revise });
    known.set(text, terms);
    return terms;
  };
}

function readTerms(
  { forAll, own, line }: ArrivingLines,
  reader: OptionReader,
  { name, revise }: { readonly name: string; readonly revise: Revise },
): OwnTerms {
  const below = reader.read(forAll, FOR_ARRIVING, "for all jobs that arrive");
  const above = reader.read(own, FOR_ARRIVING, "for one job that arrives");
  const first = own[0]?.line ?? forAll[0]?.line ?? line;
  const revised =
    reader.problems.length > 0 ? null : reader.check(`${name}:${first}`, () => revise(below, above));
  if (revised === null) throw problemsError(reader.problems);
  const set = { ...below, ...above };
  return {
    job: ownTermsOf(set, revised, revise({}).requirement),
    ...(set.env !== undefined && { env: revised.env }),
  };
}
