// A machine could not do what it was asked. The machine is left out or the verb retried, and the run continues.

export class RemoteError extends Error {
  readonly hint: string | null;
  /** The same request may succeed later without any change. */
  readonly isRetryable: boolean;

  constructor(
    message: string,
    hint: string | null = null,
    { isRetryable = false, ...options }: { cause?: unknown; isRetryable?: boolean } = {},
  ) {
    super(message, options);
    this.name = "RemoteError";
    this.hint = hint;
    this.isRetryable = isRetryable;
  }
}

export const PROCESS_LIMIT_HINT = "end some of your processes on it, or ask for a higher limit (ulimit -u)";

/** The messages of dash, bash, busybox and other programs if no further process may start. */
export function isAtProcessLimit(said: string): boolean {
  return /\b(cannot|can't) fork\b|\bfork: |resource temporarily unavailable/i.test(said);
}

/** Turns messages about full disks and missing rights into a reason and a hint. */
export function remoteErrorFrom(doing: string, stderr: string): RemoteError {
  const lines = stderr.split("\n").map((line) => line.trim());
  // The last message of GNU tar only refers to its earlier messages.
  const said =
    lines.findLast((line) => line !== "" && !/Exiting with failure|not recoverable: exiting/.test(line)) ??
    "";
  const message = said === "" ? `${doing} failed` : `${doing} failed: ${said}`;
  if (/no space left|disk quota|not enough space/i.test(stderr)) {
    return new RemoteError(
      message,
      "free space on the machine, or set scratch: in its machine file to a larger disk",
    );
  }
  if (/permission denied|read-only file system|operation not permitted/i.test(stderr)) {
    return new RemoteError(message, "in its machine file, set scratch: to a directory that you may write to");
  }
  if (isAtProcessLimit(stderr)) return new RemoteError(message, PROCESS_LIMIT_HINT, { isRetryable: true });
  if (/^not safe: /m.test(stderr)) {
    return new RemoteError(
      message,
      "in its machine file, set scratch: to a directory that only you can write to",
    );
  }
  if (/there is no \S+ on the machine/.test(stderr)) {
    return new RemoteError(message, "sshoal doctor --machines with this machine prints how to install it");
  }
  return new RemoteError(message);
}
