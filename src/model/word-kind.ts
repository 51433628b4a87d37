// Names that only this computer knows, and that a shell can complete.

export const WORD_KINDS = ["machines", "drainable", "batches", "jobs", "queues"] as const;
export type WordKind = (typeof WORD_KINDS)[number];
