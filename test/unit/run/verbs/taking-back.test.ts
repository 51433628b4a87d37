// Which jobs of a failed hand-over have arrived, asked of a machine that cannot always answer.

import { afterEach, beforeEach, expect, test } from "vitest";
import { Fleet } from "../../../../src/fleet/fleet.js";
import type { News } from "../../../../src/model/event.js";
import type { MachineSpec } from "../../../../src/model/machine.js";
import { RemoteError } from "../../../../src/remote/engine/remote-error.js";
import { handOver } from "../../../../src/remote/spool/hand-over.js";
import type { Known } from "../../../../src/run/verbs/known.js";
import { MachineLink } from "../../../../src/run/verbs/machine-link.js";
import { settleDoubt } from "../../../../src/run/verbs/taking-back.js";
import type { Session } from "../../../../src/transport/session.js";
import { anOrder, type LocalMachine, makeLocalMachine } from "../../remote/a-local-machine.js";

let machine: LocalMachine;
let told: News[];

beforeEach(async () => {
  machine = await makeLocalMachine();
  told = [];
});
afterEach(() => machine.close());

const known = {
  keys: (_: string, ids: readonly number[]) => ids.map((id) => `500000000000${id}-${id}-1`),
} as unknown as Known;
const error = new RemoteError("handing over failed");
const emit = (news: News) => void told.push(news);

/** This many scripts fail before one succeeds, as at a process limit. */
async function linkThatFails(times: number): Promise<MachineLink> {
  let left = times;
  const session: Session = {
    ...machine.session,
    exec: (script) => machine.session.exec(left-- > 0 ? "echo no more processes >&2; exit 1" : script),
  };
  const spec = { name: "a" } as MachineSpec;
  const link = new MachineLink(
    { spec, place: machine.place, pastSlots: null, pastCapacity: null, older: [] },
    new Fleet(async () => session),
  );
  await link.open(() => {});
  return link;
}

test("the machine is asked again until it answers, and that is reported once", async () => {
  await handOver(machine.session, anOrder(machine, { "5000000000001-1-1": "true" }));
  await machine.untilEvent("idle 0");
  const found = await settleDoubt(known, await linkThatFails(3), { jobs: [1, 2], error, emit });
  expect(found).toEqual({ taken: [2], begun: [1] });
  expect(told).toEqual([{ kind: "warning", message: expect.stringContaining("no more processes") }]);
});

test("a machine that answers at once is not reported", async () => {
  const found = await settleDoubt(known, await linkThatFails(0), { jobs: [1, 2], error, emit });
  expect(found).toEqual({ taken: [1, 2], begun: [] });
  expect(told).toEqual([]);
});
