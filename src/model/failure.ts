// The classes of failures. Every report has a word of its own for each.

/** What a machine finds out about a job that failed, beyond its exit code. */
export type FailureCause =
  /** The kernel killed it for lack of memory, and counted that in its cgroup. */
  | "out-of-memory"
  /** The kernel killed a process for lack of memory somewhere on the machine. */
  | "likely-out-of-memory"
  | "gpu-out-of-memory"
  | "disk-full"
  /** A line of the machine file's `setup` failed: the command did not begin. */
  | "setup-failed";

export type FailureClass =
  | FailureCause
  | "timeout"
  | "signal"
  | "lost"
  /** Any other exit code than 0. */
  | "exit";
