// The account that runs this process. A container may use a uid for which the system has no account.

import type { Stats } from "node:fs";
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

const GROUP_WRITES = 0o020;
const EVERYONE_WRITES = 0o002;

/** A file or directory that belongs neither to this account nor to root. */
export function isOfAnother({ uid: owner }: Pick<Stats, "uid">, uid: number): boolean {
  return owner !== uid && owner !== 0;
}

/** Many systems give each user a group of the same number, and let that group write by default. */
export function isWritableByOthers({ mode, uid, gid }: Pick<Stats, "mode" | "uid" | "gid">): boolean {
  return (mode & EVERYONE_WRITES) !== 0 || ((mode & GROUP_WRITES) !== 0 && gid !== uid);
}
