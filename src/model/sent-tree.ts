// The list of a working directory that is sent to a service.

export type SentEntry = {
  /** Relative, with slashes. */
  readonly path: string;
  readonly mode: number;
  /** In milliseconds since 1970. */
  readonly mtime: number;
} & (
  | { readonly type: "Directory" }
  | { readonly type: "SymbolicLink"; readonly target: string }
  | { readonly type: "File"; readonly sha256: string; readonly size: number }
);

/** Contents that follow a list, one after the other. */
export interface SentFiles {
  /** Sorted by path. */
  readonly entries: readonly SentEntry[];
  /** By hash: each once. */
  readonly sent: readonly string[];
}
