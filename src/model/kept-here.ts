// What sshoal keeps on this computer, and what became of it when it was cleaned.

export interface KeptHere {
  /** The directory that it is in, as people type it. */
  readonly place: string;
  readonly what: KeptSort;
  /** What the names of the batch's jobs begin with; null: it is of no batch. */
  readonly batch: string | null;
  /** How many there are. */
  readonly count: number;
  readonly bytes: number;
  /** Of the oldest; null: it does not matter. */
  readonly ageSeconds: number | null;
  readonly end: "kept" | "removed" | "would be removed" | "could not be removed";
  /** Why it is kept; null: that is plain. */
  readonly reason: string | null;
  /** In `place`, where each of them matters to people. */
  readonly names: readonly string[];
}

export type KeptSort =
  /** In place, of jobs that a record knows. */
  | "results"
  /** `.old-N`, `.again-N`, and output that an unfinished attempt left. */
  | "earlier results"
  /** Needed to resume a batch, and to know what ran. */
  | "record"
  /** Of a client that was killed while results came. */
  | "half arrived"
  /** Of a client that was killed while it renamed results. */
  | "half renamed"
  /** Of a client that is gone. */
  | "lock"
  | "socket"
  /** In job_results/, of no batch that a record knows. */
  | "other files"
  /** Of the cache. */
  | "compiled code"
  | "checksums"
  | "file lists"
  | "ssh defaults"
  /** In the state directory. */
  | "known directories"
  | "notifications";
