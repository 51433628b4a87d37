import { expect, test } from "vitest";
import { Fleet } from "../../../src/fleet/fleet.js";
import { Link } from "../../../src/fleet/link.js";
import type { MachineSpec } from "../../../src/model/machine.js";
import { connectLocal } from "../../../src/transport/local.js";
import type { Session } from "../../../src/transport/session.js";

const SPEC = { name: "a", address: { kind: "local" } } as MachineSpec;
const { signal } = new AbortController();

interface Opened {
  readonly session: Session;
  isClosed: boolean;
}

/** Counts sessions with this computer. */
function countingFleet() {
  const opened: Opened[] = [];
  const fleet = new Fleet(async () => {
    const each = { session: await connectLocal(), isClosed: false };
    void each.session.gone.then(() => {
      each.isClosed = true;
    });
    opened.push(each);
    return each.session;
  });
  return { fleet, opened };
}

test("all borrowers share one session, which is closed with the last", async () => {
  const { fleet, opened } = countingFleet();
  const [one, two] = await Promise.all([fleet.borrow(SPEC, signal), fleet.borrow(SPEC, signal)]);
  expect(opened).toHaveLength(1);
  await one.session.close();
  await one.session.gone;
  expect(opened[0]?.isClosed).toBe(false);
  await two.session.close();
  await two.session.gone;
  expect(opened[0]?.isClosed).toBe(true);
});

test("returning a session ends what was started through it, and nothing else", async () => {
  const { fleet } = countingFleet();
  const [one, two] = await Promise.all([fleet.borrow(SPEC, signal), fleet.borrow(SPEC, signal)]);
  const running = await one.session.exec("read x");
  const other = await two.session.exec("read x; exit 7");
  await one.session.close();
  expect((await running.ended).kind).toBe("lost");
  expect((await (await one.session.exec("exit 0")).ended).kind).toBe("lost");
  other.stdin.end("\n");
  expect(await other.ended).toEqual({ kind: "exited", code: 7 });
  await two.session.close();
});

test("machines with different addresses have separate sessions", async () => {
  const { fleet, opened } = countingFleet();
  const other = { address: { kind: "ssh", host: "b" } } as unknown as MachineSpec;
  const both = [await fleet.borrow(SPEC, signal), await fleet.borrow(other, signal)];
  expect(opened).toHaveLength(2);
  for (const { session } of both) await session.close();
});

test("a session that one batch drops stays for the others, and is not lent again", async () => {
  const { fleet, opened } = countingFleet();
  const [one, two] = [new Link(SPEC, fleet), new Link(SPEC, fleet)];
  const lost: string[] = [];
  await one.open((reason) => lost.push(`one: ${reason}`));
  await two.open((reason) => lost.push(`two: ${reason}`));
  const losses = one.watchLosses();
  one.drop("no more processes");
  expect(await losses.hasLost()).toBe(true);
  expect([one.isLost, two.isLost, one.dropsInRow]).toEqual([true, false, 1]);
  await one.open(() => {});
  expect(opened).toHaveLength(2);
  expect(lost).toEqual(["one: no more processes"]);
  await Promise.all([one.close(), two.close()]);
  expect(lost).toHaveLength(1);
});
