// The account for the remote side of a test. It is a plain one, even if the tests run as root.

import { execFileSync } from "node:child_process";
import { chownSync, cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { atEnd } from "./at-end.js";

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** Its login shell, a path. */
  readonly shell: string;
}

export const isRoot = process.getuid?.() === 0;

/** `test/prerequisites.sh` creates it. */
const PLAIN_NAME = "sshoal-test";

const account = isRoot ? findPlain() : ownAccount();

export function remoteAccount(): Account {
  if (account === undefined)
    throw new Error(
      `there is no account ${PLAIN_NAME}, and tests as root need it: run test/prerequisites.sh`,
    );
  return account;
}

/** Set for unit tests: everything they start runs as the account of the tests. */
const hasRemote = process.env.SSHOAL_TEST_REMOTE !== "none";

/** Lets the remote side write in a directory that root has made. */
export function giveToRemote(path: string): void {
  if (isRoot && hasRemote && account !== undefined) chownSync(path, account.uid, account.gid);
}

/** For the home of a client that runs jobs on this machine, as the account of the tests. */
export function takeFromRemote(path: string): void {
  if (isRoot) chownSync(path, 0, 0);
}

/** A directory with the same files that every account can read. Other accounts may be unable to read root's clone. */
export function readableCopy(dir: string): string {
  if (!isRoot) return dir;
  const copy = mkdtempSync(join(tmpdir(), "sshoal-copy-"));
  atEnd(() => rmSync(copy, { recursive: true, force: true }));
  cpSync(dir, copy, { recursive: true });
  execFileSync("chmod", ["-R", "a+rX", copy]);
  return copy;
}

function findPlain(): Account | undefined {
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  const fields = lines.map((line) => line.split(":")).find(([name]) => name === PLAIN_NAME);
  if (fields === undefined) return undefined;
  const [name = "", , uid, gid, , , shell = ""] = fields;
  return { name, uid: Number(uid), gid: Number(gid), shell };
}

function ownAccount(): Account {
  const { username, uid, gid, shell } = userInfo();
  return { name: username, uid, gid, shell: shell ?? "" };
}
