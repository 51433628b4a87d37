// The sampler, started by real slots: what it measures of real processes, and when it begins and ends.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandOf, killAll, pidsWithHome } from "../../rig/processes.js";
import { until } from "../../rig/until.js";
import { BATCH, BOOT_ID, HOST, type Home, makeHome, makeSpool, SHELLS, type Spool } from "./a-spool.js";

const A = "0000001-1";

/** Holds so many MB, and waits for a file. */
function holds(mb: number, go: string): string {
  return `/usr/bin/perl -e 'vec(my $held, (${mb} << 20) - 1, 8) = 1; select(undef, undef, undef, 0.05) until -e $ARGV[0]' ${go}`;
}

describe.each(SHELLS)("under %s", (_, shell) => {
  let home: Home;
  let spool: Spool;
  beforeEach(async () => {
    home = await makeHome(shell);
    spool = await makeSpool(home, shell);
  });
  afterEach(() => home.close(), 30_000);

  const sampler = () => join(home.dir, ".sshoal", `sampler@${HOST}`);
  const pidOf = () => (existsSync(sampler()) ? Number(readFileSync(sampler(), "utf8").split(" ")[0]) : null);
  const peak = (of: Spool = spool, slot = 0) => of.read(`slots/${slot}/peak`).catch(() => "");

  /** Of a job whose only facts these are. */
  async function ended(key: string, of: Spool = spool): Promise<Record<string, number>> {
    const line = await of.untilEvent(`ended ${key} `);
    const facts = line.split(" ").slice(5);
    return Object.fromEntries(facts.map((fact) => [fact.split("=")[0], Number(fact.split("=")[1])]));
  }

  /** Also of processes that it starts, in whatever group or session they are. */
  test.each([
    ["itself", (job: string) => `exec ${job}`],
    ["as a plain command, which a fork runs", (job: string) => job],
    ["in another session", (job: string) => `setsid ${job} & wait; true`],
    ["in three processes", (job: string) => `${job} & ${job} & ${job} & wait`],
  ])("the memory that a job holds is in its end: %s", async (where, command) => {
    const each = where.includes("three") ? 50 : 150;
    await spool.job(A, command(holds(each, home.path("go"))));
    const loop = spool.start();
    await until("it was measured", async () => /^0000001-1 1[5-9]\d - \d+\n$/.test(await peak()));
    await home.write("go", "");
    await loop.ended;
    const { mem, cpu, ...rest } = await ended(A);
    expect(mem).toBeGreaterThanOrEqual(150);
    expect(mem).toBeLessThan(200);
    expect(cpu).toBeGreaterThan(0);
    expect(rest).toEqual({});
    await until("the sampler has ended", () => !existsSync(sampler()));
  });

  test("memory that a job gave back counts, and so does the CPU time of its ended children", async () => {
    const spins = "/usr/bin/perl -e '$n++ while (times)[0] < 0.3'";
    const gives = `vec(my $held, (150 << 20) - 1, 8) = 1; undef $held; select(undef, undef, undef, 0.05) until -e $ARGV[0]`;
    await spool.job(A, `${spins}; ${spins}; /usr/bin/perl -e '${gives}' ${home.path("go")}`);
    const loop = spool.start();
    await until("it was measured", async () => /^0000001-1 1[5-9]\d /.test(await peak()));
    await home.write("go", "");
    await loop.ended;
    const { mem, cpu } = await ended(A);
    expect(mem).toBeGreaterThanOrEqual(150);
    expect(cpu).toBeGreaterThanOrEqual(600);
  });

  test("a short job has no footprint, also after a long one in its slot", async () => {
    await spool.job(A, `${holds(20, home.path("go"))}`);
    await spool.job("0000002-1", "true");
    const loop = spool.start();
    await until("the first was measured", async () => (await peak()) !== "");
    await home.write("go", "");
    await loop.ended;
    expect(await ended(A)).toHaveProperty("mem");
    expect(await ended("0000002-1")).toEqual({});
  });

  test("batches share one sampler; if it is killed, the next job starts another, which continues", async () => {
    const other = await makeSpool(home, shell, { batch: `${BATCH}-other` });
    await spool.job(A, holds(100, home.path("go")));
    await other.job(A, holds(50, home.path("go")));
    await other.job("0000002-1", `touch ${home.path("second")}; ${holds(30, home.path("go-2"))}`);
    const loops = [spool.start(), other.start()];
    await until(
      "both were measured",
      async () => /^\S+ 1/.test(await peak()) && /^\S+ 5/.test(await peak(other)),
    );
    const first = pidOf() ?? 0;
    // While it measures, it has children of the same name.
    const samplers = () => pidsWithHome(home.dir).filter((pid) => commandOf(pid).includes("sampler.sh"));
    await until("there is one", () => samplers().join() === String(first));
    killAll([first]);
    await home.write("go", "");
    await until("another sampler", () => existsSync(home.path("second")) && ![null, first].includes(pidOf()));
    await until("the second was measured", async () => /^0000002-1 [34]/.test(await peak(other)));
    await home.write("go-2", "");
    await Promise.all(loops.map(({ ended }) => ended));
    expect(await ended(A)).toHaveProperty("mem");
    await until("it has ended", () => !existsSync(sampler()));
  });

  test("only its own boot and host count as alive: a sampler elsewhere or of another process is not woken", async () => {
    await home.write(`.sshoal/sampler@${HOST}`, `${process.pid} 1 ${BOOT_ID}@${HOST}\n`);
    await spool.job(A, "true");
    await spool.run();
    await until("it has ended", () => !existsSync(sampler()));
  });

  test("the memory of its processes on a card is in the end of a job, that of other processes is not", async () => {
    await spool.room(["cpu 8000 0", "keep 0 0 0", "jobs -", "card 0 GPU-a nvidia 24576 24268 0 t -"]);
    await spool.need(["need 1 1000 0", "cards 1 0 1000 500 1 * 0"]);
    await spool.job(A, `echo $$ >${home.path("pid")}; exec ${holds(20, home.path("go"))}`);
    const loop = spool.start();
    const pid = await until("it runs", async () => (await home.read("pid").catch(() => "")).trim() || null);
    const state = `warning=WARNING: infoROM is corrupted\ngpu\nprocess=${pid} 1800 python\nprocess=1 900 other\ngpu\nprocess=${pid} 700 python\n`;
    await home.write("nvidia-smi.state", state);
    await until("it was measured", async () => / 1800 /.test(await peak()), 40_000);
    await home.write("go", "");
    await loop.ended;
    expect(await ended(A)).toMatchObject({ gpu: 1800 });
  });
});
