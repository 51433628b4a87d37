// Errors that the user can fix, and the exit codes of the command.

export const ExitCode = {
  Success: 0,
  JobFailed: 1,
  BadInput: 2,
  NoMachine: 3,
  Bug: 70,
  /** As that of `timeout`. */
  TimedOut: 124,
  Interrupted: 130,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** One mistake in a file: `where` is `file:line:column`, as far as known. */
export interface Problem {
  readonly where: string;
  readonly message: string;
  readonly hint?: string;
}

interface UserErrorOptions {
  readonly hint?: string;
  readonly exitCode?: ExitCode;
  readonly problems?: readonly Problem[];
  readonly cause?: unknown;
}

/** The user can fix it. The message says what and where; the hint says what to type next. */
export class UserError extends Error {
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;
  /** The single problems that it consists of, if any. */
  readonly problems: readonly Problem[];

  constructor(message: string, options: UserErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = "UserError";
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? ExitCode.BadInput;
    this.problems = options.problems ?? [];
  }
}

/** All mistakes of all files at once, so that one edit fixes them. */
export function problemsError(problems: readonly Problem[]): UserError {
  const lines = problems.map(({ where, message, hint }) =>
    hint === undefined ? `${where}: ${message}` : `${where}: ${message} (${hint})`,
  );
  return new UserError(lines.join("\n"), { problems });
}

/** One `error:` line per problem, with its `try:` line; problems with the same hint share one. */
export function formatUserError({ message, hint, problems }: UserError): string {
  if (problems.length === 0) return `error: ${message}\n${tryLine(hint)}`;
  return problems
    .map((problem, index) => {
      const isShared = problem.hint === problems[index + 1]?.hint;
      return `error: ${problem.where}: ${problem.message}\n${isShared ? "" : tryLine(problem.hint)}`;
    })
    .join("");
}

function tryLine(hint: string | undefined): string {
  return hint === undefined ? "" : `try: ${hint}\n`;
}
