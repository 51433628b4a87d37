// For tests on this machine: a new working directory and home per test; processes that still run are ended.

import { afterEach, beforeEach } from "vitest";
import { takeFromRemote } from "./account.js";
import { killAll, pidsWithHome } from "./processes.js";
import { makeWorkspace, type Workspace } from "./workspace.js";

export interface OwnHome {
  readonly work: Workspace;
  readonly home: Workspace;
}

/** The home of a client that runs jobs on this machine, as the account of the tests: no other account may own it. */
export async function makeHome(files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const home = await makeWorkspace(files);
  takeFromRemote(home.dir);
  return home;
}

/** Call it at the top of a test file; its result is filled before each test. */
export function useOwnHome(files: Readonly<Record<string, string>> = {}): OwnHome {
  const own = {} as { work: Workspace; home: Workspace };
  beforeEach(async () => {
    [own.work, own.home] = await Promise.all([makeWorkspace(files), makeHome()]);
  });
  afterEach(async () => {
    killAll(pidsWithHome(own.home.dir));
    await Promise.all([own.work.remove(), own.home.remove()]);
  });
  return own;
}
