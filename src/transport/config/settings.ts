// The settings of an ssh configuration for one host.

/** Keywords in lower case, with their values in order. */
export type Settings = ReadonlyMap<string, readonly string[]>;
