// Who runs this process. A container may run it with a uid that the system has no account for.

import { homedir, userInfo } from "node:os";

export interface Account {
  readonly username: string;
  /** As the system has it, whatever HOME says; null: there is no account. */
  readonly homeDir: string | null;
}

export function readAccount(): Account {
  try {
    const { username, homedir: homeDir } = userInfo();
    return { username, homeDir };
  } catch {
    const { LOGNAME, USER } = process.env;
    return { username: LOGNAME || USER || String(process.getuid?.() ?? "unknown"), homeDir: null };
  }
}

/** HOME, or the account's. Without both it is "/", as containers have it. */
export function readHomeDir(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}
