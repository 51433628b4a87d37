// What a job used while it ran, and what that means for the needs of a batch.

/** The most that was measured. Absent, also as a whole: unknown, because the job was too short or its processes were not found. */
export interface Footprint {
  /** Of all its processes together, in MB of 2^20 bytes. */
  readonly memoryMb?: number;
  /** On one card. */
  readonly gpuMemoryMb?: number;
  /** Of all its processes. */
  readonly cpuMs?: number;
}

/** A smaller need with which clearly more jobs would run at a time. */
export interface NeedAdvice {
  readonly what: "memory" | "gpu-memory";
  readonly neededMb: number;
  /** The most that a job of the batch used. */
  readonly peakMb: number;
  readonly enoughMb: number;
  /** How many times as many jobs would run, rounded down. */
  readonly times: number;
}
