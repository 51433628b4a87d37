/** What the keys of the live view are about: those that always work, how to leave, the list of all, or leaving that was asked for. */
export type KeysMode = "hint" | "leave" | "list" | "detaching";
