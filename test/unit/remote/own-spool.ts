// For tests of slots: a new home and a new spool in it per test. Fails if a process of the home is left.

import { afterEach, beforeEach } from "vitest";
import { type Home, makeHome, makeSpool, type Shell, type Spool, type SpoolFacts } from "./a-spool.js";

export interface OwnSpool {
  readonly home: Home;
  readonly spool: Spool;
  /** Makes the spool again, with other facts. */
  remake(facts: SpoolFacts): Promise<void>;
}

/** Call it at the top of a group of tests; its result is filled before each test. */
export function useSpool(shell: Shell): OwnSpool {
  const [home, spool] = [{} as Home, {} as Spool];
  const remake = async (facts: SpoolFacts) => {
    Object.assign(spool, await makeSpool(home, shell, facts));
  };
  beforeEach(async () => {
    Object.assign(home, await makeHome(shell));
    await remake({});
  });
  afterEach(() => home.close());
  return { home, spool, remake };
}
