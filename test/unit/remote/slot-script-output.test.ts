// Jobs with a limit to their output (--max-output), run by a real slot.

import { readFileSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../rig/until.js";
import { makeWorkspace, type Workspace } from "../../rig/workspace.js";
import { SHELLS } from "./a-spool.js";
import { useSpool } from "./own-spool.js";

const A = "0000001-1";
const LIMIT = 100_000;
const maxOutput = `${LIMIT} 100kB`;
/** Lines of ten bytes, which count up. */
const NUMBERS = Array.from({ length: 2_000_000 }, (_, line) => `${line}\n`.padStart(10, "0")).join("");
const printed = (bytes: number) => NUMBERS.slice(0, bytes);
let numbers: Workspace;
const prints = (bytes: number) => `head -c ${bytes} ${numbers.path("numbers")}`;

beforeAll(async () => {
  numbers = await makeWorkspace({ numbers: NUMBERS });
});
afterAll(() => numbers.remove());

const UNFREED =
  "[sshoal: it was on the machine's disk until the job ended: that file system does not free parts of files]\n";

describe.each(SHELLS)("under %s", (name, shell) => {
  const { spool } = useSpool(shell);

  const out = () => spool.read(`jobs/${A}/out`);
  const exitOf = () => spool.read(`jobs/${A}/exit`);
  const statOf = () => statSync(join(spool.dir, "jobs", A, "out"));
  const diskBytes = () => statOf().blocks * 512;
  /** busybox's fallocate cannot free anything. */
  const canFree = name !== "busybox";

  /** Fails unless the file is the beginning and the end of what was printed, with a line between them. */
  function expectCut(text: string, whole: string, amount: string): void {
    const mark = `[sshoal: ${amount} of output left out here: --max-output 100kB]\n`;
    const [first = "", last = "", ...more] = text.replace(UNFREED, "").split(mark);
    expect(more).toEqual([]);
    expect(first === whole.slice(0, LIMIT / 2)).toBe(true);
    expect(last.length).toBe(LIMIT / 2 - 200);
    expect(whole.endsWith(last)).toBe(true);
    expect(text.length).toBeLessThanOrEqual(LIMIT);
  }

  test("a job that prints far more keeps its first and its last half, and its exit code", async () => {
    await spool.job(A, `${prints(5_000_000)}; echo wrong >&2; exit 3`, "-", { maxOutput });
    await spool.start().ended;
    expect(await exitOf()).toBe("3\n");
    expectCut(await out(), printed(5_000_000), "4.9 MB");
    expect(await spool.read(`jobs/${A}/err`)).toBe("wrong\n");
  });

  test.each([0, 10, LIMIT])(
    "%d bytes are kept as they are, and nothing of the watch remains",
    async (bytes) => {
      await spool.job(A, prints(bytes), "-", { maxOutput });
      await spool.start().ended;
      expect([await exitOf(), (await out()) === printed(bytes)]).toEqual(["0\n", true]);
    },
  );

  test("both streams have a limit of their own; in one file there is one", async () => {
    const both = `{ ${prints(600_000)}; ${prints(600_000)} >&2; }`;
    await spool.job(A, both, "-", { maxOutput });
    await spool.job("0000002-1", `exec 2>&1; ${both}`, "-", { maxOutput });
    await spool.start().ended;
    expectCut(await out(), printed(600_000), "500.2 kB");
    expectCut(await spool.read(`jobs/${A}/err`), printed(600_000), "500.2 kB");
    expectCut(await spool.read("jobs/0000002-1/out"), printed(600_000) + printed(600_000), "1.1 MB");
  });

  test("the line stands alone, wherever the output is cut", async () => {
    await spool.job(A, "printf '%300000s' x", "-", { maxOutput });
    await spool.start().ended;
    // A job that lasts for a second can have the line about the disk as well.
    expect((await out()).replace(UNFREED, "")).toMatch(
      /^ {50000}\n\[sshoal: 200\.2 kB of output left out here: --max-output 100kB\]\n {49799}x$/,
    );
  });

  test("while a job prints, the middle takes no room on the disk", async () => {
    await spool.job(
      A,
      `${prints(20_000_000)}; echo >../../../begun; until [ -e ../../../go ]; do sleep 0.01; done`,
      "-",
      {
        maxOutput,
      },
    );
    const loop = spool.start();
    await until("it has printed", () => spool.exists("begun"));
    if (canFree) await until("the middle is free", () => diskBytes() < LIMIT + 2 * 65_536);
    else await until("that is reported", () => spool.exists(`jobs/${A}/unfreed`));
    expect(statOf().size).toBe(20_000_000);
    await writeFile(join(spool.dir, "go"), "");
    await loop.ended;
    expectCut(await out(), printed(20_000_000), "19.9 MB");
    expect((await out()).includes(UNFREED)).toBe(!canFree);
    expect(await exitOf()).toBe("0\n");
  });

  test("a keeper that is killed takes neither the limit nor the output with it", async () => {
    const pidIn = (file: string) =>
      Number(readFileSync(join(spool.dir, "slots/0", file), "utf8").split(" ")[0]);
    const waits = (file: string) => `until [ -e ../../../${file} ]; do sleep 0.01; done`;
    await spool.job(
      A,
      `echo >../../../begun; ${waits("go")}; ${prints(20_000_000)}; ${waits("on")}; exit 4`,
      "-",
      {
        maxOutput,
      },
    );
    const loop = spool.start();
    await until("it has begun", () => spool.exists("begun"));
    process.kill(pidIn("keeper"), "SIGKILL");
    await writeFile(join(spool.dir, "go"), "");
    await until("it has printed", () => statOf().size === 20_000_000);
    if (canFree) await until("the middle is free", () => diskBytes() < LIMIT + 2 * 65_536);
    await writeFile(join(spool.dir, "on"), "");
    await loop.ended;
    expect(await exitOf()).toBe("4\n");
    expectCut(await out(), printed(20_000_000), "19.9 MB");
  });

  test("without room for a copy the first half stays, and the line", async () => {
    await spool.job(A, prints(5_000_000), "-", { maxOutput });
    await mkdir(join(spool.dir, "jobs", A, "out.cut"));
    await spool.start().ended;
    const mark = "[sshoal: 4.9 MB of output left out here: --max-output 100kB]\n";
    expect((await out()).replace(UNFREED, "") === printed(LIMIT / 2) + mark).toBe(true);
    expect(await exitOf()).toBe("0\n");
  });

  test("a job that empties its own output is cut by what it has printed since", async () => {
    await spool.job(A, `${prints(90_000)}; ${prints(600_000)} >/dev/stdout`, "-", { maxOutput });
    await spool.start().ended;
    expectCut(await out(), printed(600_000), "500.2 kB");
  });

  test.each(["", "many\n", "-5 x", "$(touch owned) x"])("a limit that says %j is none", async (text) => {
    await spool.job(A, prints(200_000), "-", { maxOutput: text });
    await spool.start().ended;
    expect([await exitOf(), (await out()) === printed(200_000)]).toEqual(["0\n", true]);
    expect(spool.exists("owned")).toBe(false);
  });
});
