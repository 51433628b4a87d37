// How much is kept of each stream of a job (--max-output): its first half, and its last half.

export interface OutputLimit {
  readonly bytes: number;
  /** As it was typed, without blanks: `100MB`. */
  readonly text: string;
}

/** `forAll`: of the batch. Null: all is kept. */
export function limitOfJob(
  { maxOutput: own }: { readonly maxOutput?: OutputLimit | null },
  forAll: OutputLimit | undefined,
): OutputLimit | null {
  return own === undefined ? (forAll ?? null) : own;
}

/** Whether it may be written into a script of a machine: what another machine says is not trusted. */
export function isOutputLimit(value: unknown): value is OutputLimit {
  const { bytes, text } = (value ?? {}) as Partial<Record<keyof OutputLimit, unknown>>;
  return (
    Number.isSafeInteger(bytes) && Number(bytes) > 0 && typeof text === "string" && /^[\w.]+$/.test(text)
  );
}
