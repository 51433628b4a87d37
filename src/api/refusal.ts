// Why a request gets no answer, as status and JSON.

import { ExitCode, type Problem, UserError } from "../errors.js";

/** A request that the API refuses by itself, or a mistake of a user with a status of its own. */
export class Refusal extends UserError {
  readonly status: number;

  constructor(status: number, message: string, options: ConstructorParameters<typeof UserError>[1] = {}) {
    super(message, options);
    this.status = status;
  }
}

export interface ErrorBody {
  readonly error: { readonly message: string; readonly hint: string | null; readonly exitCode: number };
}

const WHERE_BUGS_ARE =
  "see service.log in the state directory of the service, or the output of the command that follows the batch";

export function describeRefusal(error: unknown): { readonly status: number; readonly body: ErrorBody } {
  if (!(error instanceof UserError))
    return {
      status: 500,
      body: bodyOf("sshoal has a bug here", WHERE_BUGS_ARE, ExitCode.Bug),
    };
  const status = error instanceof Refusal ? error.status : 400;
  return { status, body: bodyOf(error.message, error.hint ?? null, error.exitCode) };
}

function bodyOf(message: string, hint: string | null, exitCode: number): ErrorBody {
  return { error: { message, hint, exitCode } };
}

const MOST_PROBLEMS = 20;

/** All mistakes of a request; of very many, the first ones. */
export function throwIfAny(problems: readonly Problem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const lines = problems.slice(0, MOST_PROBLEMS).map(formatProblem);
  const more =
    problems.length > MOST_PROBLEMS ? [`and ${problems.length - MOST_PROBLEMS} more mistakes`] : [];
  const hint = problems.length === 1 && first.hint !== undefined ? { hint: first.hint } : {};
  throw new Refusal(
    400,
    [...(problems.length === 1 ? [`${first.where}: ${first.message}`] : lines), ...more].join("\n"),
    hint,
  );
}

function formatProblem({ where, message, hint }: Problem): string {
  return hint === undefined ? `${where}: ${message}` : `${where}: ${message} (${hint})`;
}
