// What can go wrong in a way the user can fix, and the exit codes the command promises.

export const ExitCode = {
  Success: 0,
  JobFailed: 1,
  BadInput: 2,
  NoMachine: 3,
  Bug: 70,
  Interrupted: 130,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** One mistake in a file: `where` is `file:line:column`, as far as it is known. */
export interface Problem {
  readonly where: string;
  readonly message: string;
  readonly hint?: string;
}

/** The user can fix it. The message says what and where; the hint says what to type next. */
export class UserError extends Error {
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;

  constructor(message: string, options: { hint?: string; exitCode?: ExitCode; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "UserError";
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? ExitCode.BadInput;
  }
}

/** All the mistakes of all the files at once, so that one edit fixes them. */
export function problemsError(problems: readonly Problem[]): UserError {
  const lines = problems.map(({ where, message, hint }) =>
    hint === undefined ? `${where}: ${message}` : `${where}: ${message} (${hint})`,
  );
  return new UserError(lines.join("\n"));
}
