// For tests of batches on one machine: the machine, and two new directories per test.

import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { BatchHost } from "./host.js";
import { type Ledger, openLedger, sweep } from "./ledger.js";
import { startSshd, type TestHost } from "./sshd.js";
import { makeWorkspace, type Workspace } from "./workspace.js";

export interface OneMachine<Host> {
  readonly host: Host;
  /** The working directory of the batch. */
  readonly work: Workspace;
  /** For what jobs note, outside every spool. */
  readonly seen: Workspace;
}

/** Call it at the top of a test file. `host` is filled before the first test, the directories before each. */
export function useMachine<Host extends BatchHost>(start: () => Promise<Host>): OneMachine<Host> {
  const machine = { host: {} as Host, work: {} as Workspace, seen: {} as Workspace };
  const { host, work, seen } = machine;
  beforeAll(async () => {
    Object.assign(host, await start());
  });
  beforeEach(async () => {
    const [first, second] = await Promise.all([makeWorkspace(), makeWorkspace()]);
    Object.assign(work, first);
    Object.assign(seen, second);
  });
  afterEach(() => Promise.all([work.remove(), seen.remove()]));
  afterAll(() => host.stop?.());
  return machine;
}

/** The same with a new ledger of jobs per test. */
export function useMachineWithLedger(): { readonly host: TestHost; readonly ledger: Ledger } {
  const machine = { host: {} as TestHost, ledger: {} as Ledger };
  const { host, ledger } = machine;
  beforeAll(async () => {
    Object.assign(host, await startSshd({ name: "one" }));
  });
  beforeEach(async () => {
    Object.assign(ledger, await openLedger());
  });
  afterEach(async () => {
    await sweep(host);
    await ledger.remove();
  });
  afterAll(() => host.stop?.());
  return machine;
}
