/**
 * What the keys of the live view are about: those that always work, how to leave, the list of all, leaving that was asked for,
 * or, where another client follows the batch, only how to end the watching.
 */
export type KeysMode = "hint" | "leave" | "list" | "detaching" | "watching";
