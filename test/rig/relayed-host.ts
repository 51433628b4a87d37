// For tests of links that fail: a machine, and a new relay in front of it and a new ledger of jobs per test.

import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { LIGHT_NO_GPU } from "./batch.js";
import { type Ledger, openLedger, sweep } from "./ledger.js";
import { type Relay, startRelay } from "./relay.js";
import { startSshd, type TestHost } from "./sshd.js";

export interface RelayedHost {
  readonly host: TestHost;
  readonly relay: Relay;
  readonly ledger: Ledger;
  /** The ledger's batch, on that machine through the relay. */
  batchArgs(...more: string[]): Promise<string[]>;
}

/** Call it at the top of a test file; its result is filled before each test. */
export function useRelayedHost(): RelayedHost {
  const rig = {
    batchArgs: async (...more) => {
      const machine = await rig.host.machineFile("max_jobs: 2", rig.relay);
      return ["jobs.sh", "--machines", machine, ...LIGHT_NO_GPU, ...more];
    },
  } as { host: TestHost; relay: Relay; ledger: Ledger } & Pick<RelayedHost, "batchArgs">;
  beforeAll(async () => {
    rig.host = await startSshd({ name: "one" });
  });
  beforeEach(async () => {
    [rig.relay, rig.ledger] = await Promise.all([startRelay(rig.host.port), openLedger()]);
  });
  afterEach(async () => {
    await sweep(rig.host);
    await rig.relay.stop();
    await rig.ledger.remove();
  });
  afterAll(() => rig.host?.stop());
  return rig;
}
