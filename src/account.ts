// The account that runs this process. A container may use a uid for which the system has no account.

import { homedir, userInfo } from "node:os";

export interface Account {
  readonly username: string;
  /** The home in the system's database, independent of HOME; null: there is no account. */
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

/** HOME, or else the account's home. Without both it is "/", as in containers. */
export function readHomeDir(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}
