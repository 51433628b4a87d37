// The text of a batch file -> its jobs, in bash syntax, each numbered by the line it begins with.

import { type Problem, problemsError, UserError } from "../errors.js";
import type { Job } from "../model/job.js";
import type { AskBash } from "./ask-bash.js";
import { decodeText } from "./decode.js";
import { formatJobStem } from "./job-name.js";
import { JobSplitter, type Piece } from "./job-splitter.js";

const WHAT_A_BATCH_IS = "write one command a line; blank lines and lines that begin with # are no jobs";
/** For a text that bash does not take, all of whose mistakes are wanted, but not at any price. */
const LITTLE_PATIENCE = 30;

/** `scriptPath` is the path as typed: jobs are named for it. */
export async function parseBatch(
  content: Uint8Array | string,
  scriptPath: string,
  ask: AskBash,
): Promise<Job[]> {
  const decoded = decodeText(content);
  if (decoded.kind === "not-text") {
    throw new UserError(`${scriptPath}:${decoded.line}: ${decoded.reason}`, { hint: decoded.hint });
  }
  const pieces = await split(decoded.text.split("\n"), ask);
  const problems = pieces.flatMap((piece) => findProblem(piece, scriptPath));
  if (problems.length > 0) throw problemsError(problems);
  const stem = formatJobStem(scriptPath);
  const jobs = pieces.flatMap((piece) => (piece.kind === "job" ? [toJob(piece, stem)] : []));
  if (jobs.length === 0) {
    throw new UserError(`${scriptPath}: there is no job in it`, { hint: WHAT_A_BATCH_IS });
  }
  return jobs;
}

/** A stray quote can make bash wait for another until the end of a long file, which then is asked about line by line. */
async function split(lines: readonly string[], ask: AskBash): Promise<Piece[]> {
  const hasty = new JobSplitter(ask, LITTLE_PATIENCE);
  const pieces = [...(await hasty.add(lines)), ...(await hasty.end())];
  const isFine = pieces.every((piece) => piece.kind === "options" || piece.mistake === null);
  if (isFine || (await ask(lines.join("\n"))).kind !== "taken") return pieces;
  const patient = new JobSplitter(ask, Number.POSITIVE_INFINITY);
  return [...(await patient.add(lines)), ...(await patient.end())];
}

type JobPiece = Extract<Piece, { kind: "job" }>;

function toJob({ line, command }: JobPiece, stem: string): Job {
  return { line, name: `${stem}.${line}`, command };
}

function findProblem(piece: Piece, scriptPath: string): Problem[] {
  if (piece.kind !== "job" || piece.mistake === null) return [];
  const { line, kind, says } = piece.mistake;
  const hint = kind === "no-bash" ? "install bash, or write it more plainly" : `bash -n ${scriptPath}`;
  return [{ where: `${scriptPath}:${line}`, message: says, hint }];
}
