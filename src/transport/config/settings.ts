// What an ssh configuration says of a host.

/** Keywords in lower case, with their values in order. */
export type Settings = ReadonlyMap<string, readonly string[]>;
