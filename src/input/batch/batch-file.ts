// The text of a batch file -> its jobs, in bash syntax, each numbered by the line it begins with.

import { type Problem, problemsError, UserError } from "../../errors.js";
import type { Job } from "../../model/job.js";
import { decodeText } from "../decode.js";
import type { AskBash } from "./ask-bash.js";
import { formatJobStem } from "./job-name.js";
import { JobSplitter, type OptionLine, type Piece } from "./job-splitter.js";

const WHAT_A_BATCH_IS = "write one command a line; blank lines and lines that begin with # are no jobs";
/** For a text that bash does not take, all of whose mistakes are wanted, but not at any price. */
const LITTLE_PATIENCE = 30;

export interface Batch {
  /** The path as typed. */
  readonly script: string;
  /** What its jobs are named for. */
  readonly stem: string;
  readonly jobs: readonly Job[];
  /** Lines with #@ before the first job, which are not right above it. */
  readonly forAll: readonly OptionLine[];
  /** Those right above a job, by its line. */
  readonly own: ReadonlyMap<number, readonly OptionLine[]>;
}

/** `scriptPath` is the path as typed; jobs are named for the stem. */
export async function parseBatch(
  content: Uint8Array | string,
  scriptPath: string,
  ask: AskBash,
  stem = formatJobStem(scriptPath),
): Promise<Batch> {
  const decoded = decodeText(content);
  if (decoded.kind === "not-text") {
    throw new UserError(`${scriptPath}:${decoded.line}: ${decoded.reason}`, { hint: decoded.hint });
  }
  const pieces = await split(decoded.text.split("\n"), ask);
  const firstJob = pieces.findIndex(({ kind }) => kind === "job");
  const problems = pieces.flatMap((piece, index) =>
    findProblem(piece, scriptPath, firstJob !== -1 && index > firstJob),
  );
  if (problems.length > 0) throw problemsError(problems);
  const jobPieces = pieces.filter((piece) => piece.kind === "job");
  const jobs = jobPieces.map(({ line, command }) => ({ id: line, line, name: `${stem}.${line}`, command }));
  if (jobs.length === 0) {
    throw new UserError(`${scriptPath}: there is no job in it`, { hint: WHAT_A_BATCH_IS });
  }
  return {
    script: scriptPath,
    stem,
    jobs,
    forAll: pieces.flatMap((piece) => (piece.kind === "options" ? piece.options : [])),
    own: new Map(jobPieces.flatMap(({ line, options }) => (options.length > 0 ? [[line, options]] : []))),
  };
}

/** A stray quote can make bash wait for another until the end of a long file, which then is asked about line by line. */
async function split(lines: readonly string[], ask: AskBash): Promise<Piece[]> {
  const hasty = new JobSplitter(ask, LITTLE_PATIENCE);
  const pieces = (await hasty.add(lines)).concat(await hasty.end());
  const isFine = pieces.every((piece) => piece.kind === "options" || piece.mistake === null);
  if (isFine || (await ask(lines.join("\n"))).kind !== "taken") return pieces;
  const patient = new JobSplitter(ask, Number.POSITIVE_INFINITY);
  return (await patient.add(lines)).concat(await patient.end());
}

function findProblem(piece: Piece, scriptPath: string, isAfterJob: boolean): Problem[] {
  if (piece.kind === "options") {
    const where = `${scriptPath}:${piece.options[0]?.line}`;
    const hint = "put them right above the job they are for, or before the first job for all";
    return isAfterJob ? [{ where, message: "there is no job right below these options", hint }] : [];
  }
  if (piece.mistake === null) return [];
  const { line, kind, says } = piece.mistake;
  const hint = kind === "no-bash" ? "install bash, or write it more plainly" : `bash -n ${scriptPath}`;
  return [{ where: `${scriptPath}:${line}`, message: says, hint }];
}
