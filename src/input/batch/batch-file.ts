// Parses a batch file, in bash syntax, into its jobs, each numbered by the line it begins with.

import { type Problem, problemsError, UserError } from "../../errors.js";
import type { Job } from "../../model/job.js";
import { decodeText } from "../decode.js";
import type { AskBash } from "./ask-bash.js";
import { formatJobStem } from "./job-name.js";
import { JobSplitter, type OptionLine, type Piece } from "./job-splitter.js";

const WHAT_A_BATCH_IS = "write one command per line; blank lines and lines that begin with # are no jobs";
/** The patience for a text that bash refuses: all its mistakes are wanted, but within a limited time. */
const LITTLE_PATIENCE = 30;

export interface Batch {
  /** The path as typed. */
  readonly script: string;
  /** The prefix for the names of its jobs. */
  readonly stem: string;
  readonly jobs: readonly Job[];
  /** Lines with #@ before the first job that are not right above it. */
  readonly forAll: readonly OptionLine[];
  /** Lines with #@ right above a job, by its line. */
  readonly own: ReadonlyMap<number, readonly OptionLine[]>;
}

/** `scriptPath` is the path as typed; the names of jobs begin with the stem. */
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

/** A stray quote can make bash look for its end through a long file. So the text is first tried with little patience. */
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
  const hint = kind === "no-bash" ? "install bash, or write a simpler command" : `bash -n ${scriptPath}`;
  return [{ where: `${scriptPath}:${line}`, message: says, hint }];
}
