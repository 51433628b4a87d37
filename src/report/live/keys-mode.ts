/**
 * Which keys the live view shows: the usual ones, the ways to leave, the list of all, a detach in progress, or, if
 * another client follows the batch, only how to stop watching.
 */
export type KeysMode = "hint" | "leave" | "list" | "detaching" | "watching";
