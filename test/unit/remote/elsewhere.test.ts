// A spool on a shared file system also has processes of other hosts. Only those hosts know whether the processes live.

import { existsSync, readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { clean } from "../../../src/remote/spool/clean-spool.js";
import { Control } from "../../../src/remote/spool/control.js";
import { handOver } from "../../../src/remote/spool/hand-over.js";
import { findLeftOver, removeLeftOver } from "../../../src/remote/spool/leftovers.js";
import { until } from "../../rig/until.js";
import { anOrder, type LocalMachine, makeLocalMachine, never } from "./a-local-machine.js";
import { BOOT_ID, HOST, liveLine, SHELLS } from "./a-spool.js";
import { useSpool } from "./own-spool.js";

const A = "0000001-1";
const B = "0000002-1";

/** With the pid and the start time of a process of this host, with which it must not be confused. */
const ELSEWHERE = liveLine(process.pid).replace(`${BOOT_ID}@${HOST}`, "another-boot@node7").trim();

describe("a client", () => {
  let machine: LocalMachine;
  let control: Control;

  beforeEach(async () => {
    machine = await makeLocalMachine();
    await handOver(machine.session, anOrder(machine, {}));
    await machine.untilEvent("idle 0");
    await machine.write(`${machine.spool}/slots/0/loop`, `${ELSEWHERE}\n`);
    control = await Control.open(machine.session, machine.place);
  });
  afterEach(async () => {
    control.close();
    await machine.close();
  });

  const loop = () => machine.read(`${machine.spool}/slots/0/loop`);
  const hasClaim = (key: string) => existsSync(machine.path(machine.spool, "jobs", key, "claim"));

  test("starts no loop for a slot of another host, and reports that host", async () => {
    await handOver(machine.session, anOrder(machine, { [A]: "true" }));
    const { dead, elsewhere } = await control.tend();
    expect([...dead]).toEqual([]);
    expect([...elsewhere]).toEqual([[0, "node7"]]);
    expect([await loop(), hasClaim(A)]).toEqual([`${ELSEWHERE}\n`, false]);
  });

  test("does not touch a job that a slot of another host runs, and only marks it as stopped", async () => {
    await handOver(machine.session, anOrder(machine, { [A]: "true" }));
    await machine.write(`${machine.spool}/jobs/${A}/claim`, "slot 0\n");
    await machine.write(`${machine.spool}/slots/0/job`, `${ELSEWHERE} ${A}\n`);
    await control.stop([A]);
    await until("it is marked", () => existsSync(machine.path(machine.spool, "jobs", A, "stopped")));
    await control.tend();
    expect(existsSync(machine.path(machine.spool, "jobs", A, "exit"))).toBe(false);
  });

  test("does not take a batch that a client of another host holds", async () => {
    await machine.write(`${machine.spool}/held-by`, "you@there:/x\n");
    await machine.write(`${machine.spool}/holder`, `${ELSEWHERE}\n`);
    expect(await control.hold("me")).toEqual({
      isOurs: false,
      pid: process.pid,
      host: "node7",
      name: "you@there:/x",
    });
  });

  test("takes a batch whose holder is from before this host's reboot", async () => {
    await machine.write(`${machine.spool}/held-by`, "you@there:/x\n");
    await machine.write(`${machine.spool}/holder`, `${process.pid} 1 another-boot@${HOST}\n`);
    expect(await control.hold("me")).toMatchObject({ isOurs: true });
  });

  test("removes no spool in which another host works", async () => {
    expect(await clean(machine.session, machine.place, never)).toEqual({ kind: "elsewhere", host: "node7" });
    await machine.write(`${machine.spool}/slots/0/loop`, "");
    await machine.write(`${machine.spool}/slots/0/job`, `${ELSEWHERE} ${A}\n`);
    expect(await clean(machine.session, machine.place, never)).toEqual({ kind: "elsewhere", host: "node7" });
    expect(existsSync(machine.path(machine.spool, "slots/0/events"))).toBe(true);
  });

  test("writes to a separate log if a process of another host writes to the first", async () => {
    await machine.write(`${machine.spool}/writer.${HOST}.1`, `${ELSEWHERE}\n`);
    await control.drain();
    expect(await machine.read(`${machine.spool}/events.${HOST}.1`)).toBe("");
    expect(await machine.read(`${machine.spool}/events.${HOST}.2`)).toBe("draining 1\n");
  });
});

test("cleaning up lists such a spool as used, and keeps it", async () => {
  const machine = await makeLocalMachine();
  const name = "jobs.sh-00000001";
  const spool = `.sshoal/batches/${name}@${HOST}`;
  await machine.write(`${spool}/slots/0/loop`, `${ELSEWHERE}\n`);
  await machine.write(`${spool}/slots/0/job`, `${ELSEWHERE} ${A}\n`);
  await machine.write(`${spool}/jobs/${A}/command`, "");
  await machine.write(`${spool}/jobs/${A}/claim`, "slot 0\n");
  const { batches } = await findLeftOver(machine.session, null, never);
  expect(batches).toMatchObject([{ name, isAlive: true, running: 1, toCollect: 0 }]);
  const removal = { scratch: null, batches: [{ name, isForced: true }], trees: [] };
  expect(await removeLeftOver(machine.session, removal, never)).toEqual(new Map([[`batch ${name}`, "kept"]]));
  await machine.close();
});

describe.each(SHELLS)("a slot, under %s", (_, shell) => {
  const { home, spool } = useSpool(shell);
  let place: string;

  beforeEach(async () => {
    place = spool.dir.slice(home.dir.length + 1);
  });

  test("does not take over from a loop of another host", async () => {
    await spool.job(A, "true");
    await home.write(`${place}/slots/0/loop`, `${ELSEWHERE}\n`);
    await home.write(`${place}/slots/0/claim`, "1 1 0 0 0 0 -\n");
    await spool.run();
    expect([spool.exists(`jobs/${A}/claim`), await spool.read("slots/0/loop")]).toEqual([
      false,
      `${ELSEWHERE}\n`,
    ]);
    expect([await spool.read("slots/0/claim"), await spool.events()]).toEqual(["1 1 0 0 0 0 -\n", []]);
  });

  test.each(["keeper", "job"])("waits for a job whose %s belongs to another host", async (trace) => {
    await spool.job(A, "true");
    await spool.job(B, "true");
    await home.write(`${place}/jobs/${A}/claim`, "slot 0\n");
    await home.write(`${place}/slots/0/${trace}`, `${ELSEWHERE} ${A}\n`);
    const { child, ended } = spool.start();
    await until("the loop has looked at the job, and waits", () => sleepsNow(child.pid as number));
    expect(spool.exists(`jobs/${A}/exit`)).toBe(false);
    await home.write(`${place}/jobs/${A}/exit`, "0\n");
    await home.write(`${place}/slots/0/${trace}`, "");
    await ended;
    expect(await spool.events()).toContain(`ended ${A} 0 0 0`);
    expect(await spool.read(`jobs/${B}/exit`)).toBe("0\n");
  });

  test("does not touch a claim without a name, which a slot of another host may be making", async () => {
    await spool.slot(1);
    await spool.job(A, "true");
    await home.write(`${place}/jobs/${A}/claim`, "");
    await home.write(`${place}/slots/1/loop`, `${ELSEWHERE}\n`);
    await home.write(`${place}/slots/0/loop`, `1 1 another-boot@${HOST}\n`);
    await spool.run();
    expect([spool.exists(`jobs/${A}/exit`), await spool.events()]).toEqual([false, ["idle 0"]]);
  });

  test("does not count a claim of another host", async () => {
    await spool.job(A, "true");
    await home.write(`.sshoal/batches/other@${HOST}/slots/0/claim`, "1 1 0 0 0 1 -\n");
    await home.write(`.sshoal/batches/other@${HOST}/slots/0/loop`, `${ELSEWHERE}\n`);
    await spool.run();
    expect(await spool.read(`jobs/${A}/exit`)).toBe("0\n");
  });
});

/** A child of the process is a `sleep`. */
function sleepsNow(pid: number): boolean {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return children.some((child) => {
    try {
      return child !== "" && readFileSync(`/proc/${child}/cmdline`, "utf8").includes("sleep");
    } catch {
      return false;
    }
  });
}
