// The control channel with its real script, on jobs that a real slot runs if they must run.

import { existsSync, readdirSync } from "node:fs";
import { appendFile, readFile, rename, symlink, utimes } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RemoteError } from "../../../../src/remote/engine/remote-error.js";
import { Control } from "../../../../src/remote/spool/control.js";
import type { OutputPiece } from "../../../../src/remote/spool/control-stream.js";
import { freshOutput } from "../../../../src/remote/spool/fresh-output.js";
import { handOver } from "../../../../src/remote/spool/hand-over.js";
import { slowRm } from "../../../rig/slow-rm.js";
import { until } from "../../../rig/until.js";
import { anOrder, type LocalMachine, makeLocalMachine } from "../a-local-machine.js";
import { HOST, liveLine, readEvents } from "../a-spool.js";

const A = "0000001-1";
const B = "0000002-1";
const C = "0000003-1";

let machine: LocalMachine;
let control: Control;

beforeEach(async () => {
  machine = await makeLocalMachine();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  control?.close();
  await machine.close();
});

/** Jobs that never run, because there is no slot. */
async function waiting(...keys: string[]): Promise<void> {
  const jobs = Object.fromEntries(keys.map((key) => [key, "true"]));
  await handOver(machine.session, anOrder(machine, jobs, { slots: 0 }));
  control = await Control.open(machine.session, machine.place);
}

async function running(jobs: Readonly<Record<string, string>>): Promise<void> {
  await handOver(machine.session, anOrder(machine, jobs));
  control = await Control.open(machine.session, machine.place);
}

const write = (path: string, text: string | Buffer) => machine.write(`${machine.spool}/${path}`, text);
const read = (path: string) => machine.read(`${machine.spool}/${path}`);
const events = () => readEvents(machine.path(machine.spool));
const exists = (path: string) => existsSync(machine.path(machine.spool, path));

describe("output", () => {
  async function pieces(...positions: [string, "out" | "err", number][]): Promise<OutputPiece[]> {
    const found: OutputPiece[] = [];
    const asked = positions.map(([key, stream, offset]) => ({ key, stream, offset }));
    expect(await control.readOutput(asked, async (piece) => void found.push(piece))).toEqual({
      cut: [],
      beyond: [],
    });
    return found;
  }

  const textOf = (found: readonly OutputPiece[]) => Buffer.concat(found.map(({ bytes }) => bytes)).toString();

  test("the bytes after each position, with some before it, and nothing for missing streams", async () => {
    await waiting(A, B);
    await write(`jobs/${A}/out`, "0123456789");
    await write(`jobs/${A}/err`, "old");
    await write(`jobs/${B}/out`, "");
    await pieces([A, "out", 0]);
    for (const stream of ["out", "err"])
      await utimes(machine.path(machine.spool, `jobs/${A}/${stream}`), 1, 1);
    expect(await pieces([A, "out", 4], [A, "err", 3], [B, "out", 0], [B, "err", 0], [C, "out", 0])).toEqual([
      { kind: "output", key: A, stream: "out", offset: 0, bytes: Buffer.from("0123456789") },
    ]);
    await appendFile(machine.path(machine.spool, `jobs/${A}/err`), " and new");
    const found = await pieces([B, "out", 0], [A, "out", 10], [A, "err", 3]);
    expect([found[0]?.stream, found[0]?.offset, textOf(found)]).toEqual(["err", 0, "old and new"]);
  });

  test("any bytes, even if they look like the protocol", async () => {
    await waiting(A, B);
    const bytes = Buffer.concat([
      Buffer.from(Array.from({ length: 256 }, (_, n) => n)),
      Buffer.from("\nend 0\ndata k"),
    ]);
    await write(`jobs/${A}/out`, bytes);
    await write(`jobs/${B}/err`, "without a line end");
    const found = await pieces([A, "out", 0], [B, "err", 0]);
    expect(
      Buffer.concat(found.filter(({ key }) => key === A).map((piece) => piece.bytes)).equals(bytes),
    ).toBe(true);
    expect(textOf(found.filter(({ key }) => key === B))).toBe("without a line end");
  });

  test("much output arrives in limited parts, and completely in the end", async () => {
    await waiting(A, B);
    const bytes = Buffer.alloc(10_000_000, "0123456789abcdefg\n");
    await write(`jobs/${A}/out`, bytes);
    await write(`jobs/${B}/out`, "short");
    const whole: Buffer[] = [];
    let offset = 0;
    for (let rounds = 0; offset < bytes.length; rounds++) {
      expect(rounds).toBeLessThan(5);
      const found = await pieces([A, "out", offset], [B, "out", 0]);
      expect(textOf(found.filter(({ key }) => key === B))).toBe("short");
      const mine = found.filter(({ key }) => key === A);
      const part = Buffer.concat(mine.map((piece) => piece.bytes)).subarray(offset - (mine[0]?.offset ?? 0));
      expect(part.length).toBeLessThanOrEqual(4 << 20);
      whole.push(part);
      offset += part.length;
    }
    expect(Buffer.concat(whole).equals(bytes)).toBe(true);
  });

  test("at most 4096 bytes before a position are sent again; without new bytes only after a write or on request", async () => {
    await waiting(A, B);
    const bytes = Buffer.alloc(10_000, "0123456789");
    await write(`jobs/${A}/out`, bytes);
    const some = await pieces([A, "out", 9999]);
    expect([some[0]?.offset, textOf(some).length]).toEqual([9999 - 4096, 4097]);
    await utimes(machine.path(machine.spool, `jobs/${A}/out`), 1, 1);
    expect(await pieces([A, "out", 10_000])).toEqual([]);
    await write(`jobs/${A}/out`, Buffer.alloc(10_000, "abcdefghij"));
    expect(textOf(await pieces([A, "out", 10_000]))).toBe(
      "ghij".concat("abcdefghij".repeat(500)).slice(-4096),
    );
    await write(`jobs/${A}/out`, bytes);
    const found: OutputPiece[] = [];
    const asked = [
      { key: A, stream: "out", offset: 10_000 },
      { key: B, stream: "out", offset: 0 },
    ] as const;
    await control.readOutput(asked, async (each) => void found.push(each), true);
    expect(found.map(({ key, offset }) => [key, offset])).toEqual([[A, 10_000 - 4096]]);
    expect(textOf(found)).toBe(bytes.subarray(-4096).toString());
  });

  test("a stream that is shorter than its position is named", async () => {
    await waiting(A);
    await write(`jobs/${A}/out`, "new");
    await write(`jobs/${A}/err`, "");
    const asked = [
      { key: A, stream: "out", offset: 4 },
      { key: A, stream: "err", offset: 1 },
    ] as const;
    const { cut } = await control.readOutput(asked, async () => expect.unreachable());
    expect(cut).toEqual([
      { key: A, stream: "out" },
      { key: A, stream: "err" },
    ]);
  });

  test("with a limit the first half is sent while the job runs, and all of it once there is an exit", async () => {
    await waiting(A, B);
    await write(`jobs/${A}/max-output`, "1000 1kB\n");
    await write(`jobs/${A}/out`, `${"x".repeat(600)}\n\0\0an \\n odd\tline\r\n`);
    await write(`jobs/${A}/err`, "x".repeat(500));
    await write(`jobs/${B}/max-output`, "no number\n");
    await write(`jobs/${B}/out`, "y".repeat(2000));
    const look = async () => {
      const found = new Map<string, number>();
      const asked = [A, B].flatMap((key) =>
        (["out", "err"] as const).map((stream) => ({ key, stream, offset: 0 })),
      );
      const { cut, beyond } = await control.readOutput(asked, async ({ key, stream, bytes }) => {
        found.set(`${key} ${stream}`, bytes.length);
      });
      expect(cut).toEqual([]);
      return { found: [...found], beyond };
    };
    expect(await look()).toEqual({
      found: [
        [`${A} out`, 500],
        [`${A} err`, 500],
        [`${B} out`, 2000],
      ],
      beyond: [{ key: A, stream: "out", size: 619, lastLine: "an \\n odd\tline" }],
    });
    await write(`jobs/${A}/exit`, "0\n");
    expect(await look()).toEqual({
      found: [
        [`${A} out`, 619],
        [`${A} err`, 500],
        [`${B} out`, 2000],
      ],
      beyond: [],
    });
  });

  test("output that is emptied between measuring and sending holds nothing up", async () => {
    await waiting(A);
    await write(`jobs/${A}/out`, "0123456789");
    // The job empties it after its size was announced.
    const path = machine.path(machine.spool, `jobs/${A}/out`);
    await machine.write("bin/tail", `#!/bin/sh\n: >'${path}'\nexec /usr/bin/tail "$@"\n`);
    vi.stubEnv("PATH", `${machine.path("bin")}:${process.env.PATH}`);
    control.close();
    control = await Control.open(machine.session, machine.place);
    const [piece] = await pieces([A, "out", 3]);
    expect(piece && freshOutput(piece, 3, Buffer.from("012"))).toBeNull();
    await control.tend();
  });

  test("if the receiver of output fails, only that request fails, and the channel stays open", async () => {
    await waiting(A);
    await write(`jobs/${A}/out`, Buffer.alloc(300_000, "x"));
    const refuse = async () => {
      throw new Error("disk full");
    };
    await expect(control.readOutput([{ key: A, stream: "out", offset: 0 }], refuse)).rejects.toThrow(
      "disk full",
    );
    expect(textOf(await pieces([A, "out", 299_999]))).toBe("x".repeat(4097));
  });

  test("requests during other requests are answered in order", async () => {
    await waiting(A, B, C);
    await write(`jobs/${A}/out`, Buffer.alloc(1_000_000, "x"));
    const [look, taken, found] = await Promise.all([
      control.readOutput([{ key: A, stream: "out", offset: 0 }], async () => {}),
      control.takeBack([B]),
      pieces([A, "out", 999_990]),
    ]);
    expect([look.cut, taken.taken, textOf(found)]).toEqual([[], [B], "x".repeat(4106)]);
  });
});

describe("taking back", () => {
  test("a job that has not begun is taken back, and no slot takes it", async () => {
    await waiting(A, B, C);
    await write(`jobs/${B}/claim`, "slot 0\n");
    expect(await control.takeBack([A, B])).toEqual({ taken: [A], begun: [B] });
    await handOver(machine.session, anOrder(machine, {}));
    await machine.untilEvent(`ended ${C}`);
    await machine.untilEvent("idle 0");
    expect(exists(`jobs/${A}/exit`)).toBe(false);
  });

  test("requested again after a lost answer, it is still taken back", async () => {
    await waiting(A);
    expect(await control.takeBack([A])).toEqual({ taken: [A], begun: [] });
    control.close();
    control = await Control.open(machine.session, machine.place);
    expect(await control.takeBack([A])).toEqual({ taken: [A], begun: [] });
  });

  test("a later client learns what was taken back", async () => {
    await waiting(A, B, C);
    expect(await control.returned()).toEqual([]);
    await control.takeBack([A, C]);
    await control.stop([B]);
    control.close();
    control = await Control.open(machine.session, machine.place);
    expect(await control.returned()).toEqual([A, C]);
  });

  test("a job that never arrived is taken back, and does not run when it arrives late", async () => {
    await waiting(B);
    expect(await control.takeBack([A])).toEqual({ taken: [A], begun: [] });
    await handOver(machine.session, anOrder(machine, { [A]: 'touch "$HOME/ran"' }));
    await machine.untilEvent(`ended ${B}`);
    await machine.untilEvent("idle 0");
    expect([exists(`jobs/${A}/exit`), existsSync(machine.path("ran"))]).toEqual([false, false]);
  });

  test("a collected and freed job is not taken back", async () => {
    await running({ [A]: "true" });
    await machine.untilEvent("idle 0");
    await control.free([A]);
    expect(await control.takeBack([A])).toEqual({ taken: [], begun: [A] });
  });

  test("a job that was stopped in the meantime is not taken back", async () => {
    await waiting(A);
    await control.stop([A]);
    expect(await control.takeBack([A])).toEqual({ taken: [], begun: [A] });
  });
});

describe("stopping", () => {
  test("ends all processes of a job, even those that left its session, and only those", async () => {
    const note = (key: string) => `echo $$ >>"$HOME/pids-${key}"`;
    const wait = (key: string) => `${note(key)}; until [ -e "$HOME/go" ]; do sleep 0.02; done`;
    const jobs = { [A]: `setsid sh -c '${note(A)}; exec sleep 600' & ${wait(A)}`, [B]: wait(B) };
    await handOver(machine.session, anOrder(machine, jobs, { slots: 2 }));
    control = await Control.open(machine.session, machine.place);
    await until(
      "all of them are there",
      async () => (await pids(A)).length === 2 && (await pids(B)).length === 1,
    );
    await control.stop([A]);
    await machine.untilEvent(`ended ${A}`);
    expect(await read(`jobs/${A}/exit`)).toBe("stopped\n");
    await until("nothing of it lives", async () => (await pids(A)).every((pid) => !isAlive(pid)));
    expect((await pids(B)).every(isAlive)).toBe(true);
    await machine.write("go", "");
    await machine.untilEvent(`ended ${B}`);
    expect(await read(`jobs/${B}/exit`)).toBe("0\n");
  });

  async function pids(key: string): Promise<number[]> {
    const text = await readFile(machine.path(`pids-${key}`), "utf8").catch(() => "");
    return text.split("\n").filter(Boolean).map(Number);
  }

  function isAlive(pid: number): boolean {
    return existsSync(`/proc/${pid}/exe`);
  }

  test("a job that has not begun ends at once, and never runs", async () => {
    await waiting(A);
    await control.stop([A]);
    await machine.untilEvent(`ended ${A} 0 stopped`);
    expect(await read(`jobs/${A}/exit`)).toBe("stopped\n");
    await handOver(machine.session, anOrder(machine, {}));
    await machine.untilEvent("idle 0");
    expect(exists(`jobs/${A}/out`)).toBe(false);
  });

  test("a job whose stopping client was killed ends when it is stopped again", async () => {
    await waiting(A);
    await write(`jobs/${A}/claim`, "stop\n");
    await control.stop([A]);
    await control.stop([A]);
    expect((await events()).filter((line) => line.startsWith("ended"))).toEqual([`ended ${A} 0 stopped 0`]);
    expect(await read(`jobs/${A}/exit`)).toBe("stopped\n");
  });

  test("a job whose stopping client was killed ends when slots are tended", async () => {
    await waiting(A, B);
    await write("slots/0/env", "");
    await control.takeBack([B]);
    await write(`jobs/${A}/claim`, "stop\n");
    expect([...(await control.tend()).dead, ...(await control.tend()).dead]).toEqual([]);
    expect((await events()).filter((line) => line.startsWith("ended"))).toEqual([`ended ${A} 0 stopped 0`]);
    expect(await read(`jobs/${A}/exit`)).toBe("stopped\n");
  });

  test("a pid that belongs to another process by now is not signalled", async () => {
    await waiting(A);
    await write(`jobs/${A}/claim`, "slot 0\n");
    await write(`jobs/${A}/exit`, "0\n");
    await write(`jobs/${A}/pid`, liveLine(process.pid).replace(/ \d+ /, " 1 "));
    await control.stop([A]);
    expect(await read(`jobs/${A}/exit`)).toBe("0\n");
  });
});

test("freeing removes a job with all its files, and the log records it", async () => {
  await running({ [A]: "mkdir -p ro/sub; touch ro/sub/x; chmod 500 ro ro/sub", [B]: "true" });
  await machine.untilEvent("idle 0");
  await control.free([A]);
  expect([exists(`jobs/${A}`), exists(`jobs/${B}`)]).toEqual([false, true]);
  expect(await events()).toContain(`freed ${A}`);
  await control.free([A]); // a link can drop after the work was done
});

test("a job that is being removed is never mistaken for a waiting one", async () => {
  await running({ [A]: 'echo ran >>"$HOME/log"' });
  await machine.untilEvent("idle 0");
  control.close();
  const [half, go] = [machine.path("half"), machine.path("go")];
  await machine.write("bin/rm", slowRm({ half, go }));
  vi.stubEnv("PATH", `${machine.path("bin")}:${process.env.PATH}`);
  control = await Control.open(machine.session, machine.place);
  const freeing = control.free([A]);
  await until("a half of it is removed", () => existsSync(half));
  await handOver(machine.session, anOrder(machine, { [B]: "true" }));
  await machine.untilEvent(`ended ${B}`);
  await until("no slot is at work", async () => (await read("slots/0/loop")) === "");
  await machine.write("go", "");
  await freeing;
  expect(await machine.read("log")).toBe("ran\n");
  expect(readdirSync(machine.path(machine.spool, "removing"))).toEqual([]);
});

test("the rest of an interrupted removal is removed with the next", async () => {
  await running({ [A]: "true", [B]: "true" });
  await machine.untilEvent("idle 0");
  await write(`removing/${C}/work/x`, "");
  await Promise.all([control.free([A]), control.free([A, B])]);
  expect(readdirSync(machine.path(machine.spool, "removing"))).toEqual([]);
});

test("a job that cannot be moved away stays, and is not run again", async () => {
  await running({ [A]: 'echo ran >>"$HOME/log"' });
  await machine.untilEvent("idle 0");
  control.close();
  await machine.write("bin/mv", '#!/bin/sh\ncase "$*" in *removing/*) exit 1 ;; esac\nexec /bin/mv "$@"\n');
  vi.stubEnv("PATH", `${machine.path("bin")}:${process.env.PATH}`);
  control = await Control.open(machine.session, machine.place);
  await control.free([A]);
  expect(exists(`jobs/${A}/claim`)).toBe(true);
  await handOver(machine.session, anOrder(machine, { [B]: "true" }));
  await machine.untilEvent(`ended ${B}`);
  await until("no slot is at work", async () => (await read("slots/0/loop")) === "");
  expect(await machine.read("log")).toBe("ran\n");
});

test("a job whose removal cannot be logged is emptied, and keeps its claim", async () => {
  await running({ [A]: "mkdir made; touch made/x; chmod 500 made", [B]: "true" });
  await machine.untilEvent("idle 0");
  const log = machine.path(machine.spool, `events.${HOST}.1`);
  await rename(log, `${log}.kept`);
  await symlink("/dev/full", log);
  await control.free([A]);
  expect(readdirSync(machine.path(machine.spool, "jobs", A)).toSorted()).toEqual([
    "claim",
    "command",
    "exit",
  ]);
  expect(exists(`jobs/${B}/out`)).toBe(true);
  await rename(`${log}.kept`, log);
  await control.free([A]);
  expect(exists(`jobs/${A}`)).toBe(false);
});

test("one client at a time holds the batch, and another one after that is gone", async () => {
  await waiting(A);
  const mine = await control.hold("me@here:/work dir");
  expect(mine).toEqual({ isOurs: true, pid: expect.any(Number) });
  const other = await Control.open(machine.session, machine.place);
  expect(await other.hold("you@there:/x")).toEqual({
    isOurs: false,
    pid: mine.pid,
    host: null,
    name: "me@here:/work dir",
  });
  expect(await other.hold("me@here:/work dir")).toMatchObject({ isOurs: true });
  control.close();
  other.close();
  control = await Control.open(machine.session, machine.place);
  await until("no client holds it", async () => (await control.hold("you@there:/x")).isOurs);
});

test("halting is sent to the client that holds the batch", async () => {
  await waiting(A);
  await control.halt();
  expect((await events()).join()).not.toContain("halting");
  const { pid } = await control.hold("me");
  await control.halt();
  expect(await events()).toContain(`halting ${pid}`);
});

test("draining: running jobs end, waiting jobs stay", async () => {
  await running({ [A]: 'until [ -e "$HOME/go" ]; do sleep 0.02; done', [B]: "true" });
  await machine.untilEvent(`started ${A}`);
  await control.drain();
  await machine.write("go", "");
  await machine.untilEvent("idle 0");
  expect([await read(`jobs/${A}/exit`), exists(`jobs/${B}/exit`)]).toEqual(["0\n", false]);
});

test("a slot whose loop is gone gets a new one", async () => {
  await running({ [A]: 'until [ -e "$HOME/go" ]; do sleep 0.02; done; exit 4', [B]: "true" });
  await machine.untilEvent(`started ${A}`);
  const killed = await read("slots/0/loop");
  process.kill(Number(killed.split(" ")[0]), "SIGKILL");
  // Dying takes a moment, in which it still counts as alive.
  await until("there is a new loop", async () => {
    await control.tend();
    return (await read("slots/0/loop")) !== killed;
  });
  await machine.write("go", "");
  await machine.untilEvent(`ended ${A} 0 4`);
  await machine.untilEvent(`ended ${B} 0 0`);
  await machine.untilEvent("idle 0");
});

/** As if the machine, or a client's shell on it, stops while it takes a job. */
describe.each(["", "slot 0\n"])("a job whose taker left only a claim of %j", (claim) => {
  test.each(["", "drain"])("is reported as lost once slots are tended %s", async (drain) => {
    await running({ [A]: 'until [ -e "$HOME/go" ]; do sleep 0.02; done', [B]: "true" });
    await machine.untilEvent(`started ${A}`);
    await write(`jobs/${B}/claim`, claim);
    await machine.write("go", "");
    await machine.untilEvent("idle 0");
    if (drain !== "") await control.drain();
    expect([...(await control.tend()).dead.keys()]).toEqual([0]);
    await machine.untilEvent(`ended ${B} 0 lost`);
    await until("nothing is left to do", async () => (await control.tend()).dead.size === 0);
    expect((await events()).filter((line) => /^(started|ended) /.test(line))).toEqual([
      expect.stringMatching(`started ${A} 0`),
      expect.stringMatching(`ended ${A} 0 0`),
      `ended ${B} 0 lost 0`,
    ]);
  });
});

test("slots that could not be kept running are named, with their last messages", async () => {
  await waiting(A);
  await write("slots/0/env", "");
  await write("slot.sh", "echo first\necho slot.sh: 7: Cannot fork >&2\nexit 2\n");
  expect((await control.tend()).dead).toEqual(new Map([[0, ""]]));
  await until("it said so", async () => (await read("slots/0/log").catch(() => "")).includes("fork"));
  expect((await control.tend()).dead).toEqual(new Map([[0, "slot.sh: 7: Cannot fork"]]));
});

test("announced output that cannot be sent ends the channel: nothing else is mistaken for it", async () => {
  vi.stubEnv("PATH", `${machine.path("bin")}:${process.env.PATH}`);
  await machine.write("bin/head", "#!/bin/sh\nexit 1\n");
  await waiting(A);
  await write(`jobs/${A}/out`, "0123456789");
  const found: OutputPiece[] = [];
  const reading = control.readOutput(
    [{ key: A, stream: "out", offset: 0 }],
    async (piece) => void found.push(piece),
  );
  const next = control.tend();
  await expect(reading).rejects.toBeInstanceOf(RemoteError);
  await expect(next).rejects.toBeInstanceOf(RemoteError);
  expect(found).toEqual([]);
});

describe("ends", () => {
  test("the last bytes of each stream that is there, whatever they are", async () => {
    await waiting(A, B, C);
    await write(`jobs/${A}/err`, `${"x".repeat(10_000)}\nend 0\nsize ${B} 5\n`);
    await write(`jobs/${B}/err`, "");
    await write(`jobs/${C}/out`, "not asked for");
    const ends = await control.readEnds([A, B, C], "err");
    expect([...(ends ?? []).keys()]).toEqual([A, B]);
    expect(ends?.get(A)).toMatch(new RegExp(`^x{2000,}\nend 0\nsize ${B} 5\n$`));
    expect(ends?.get(B)).toBe("");
    expect(await control.readEnds([C], "out")).toEqual(new Map([[C, "not asked for"]]));
    expect(await control.readEnds([C], "err")).toEqual(new Map());
  });

  test("of more streams than fit into one write", async () => {
    const keys = Array.from({ length: 150 }, (_, index) => `${String(index + 1).padStart(7, "0")}-1`);
    await waiting(...keys);
    for (const key of keys) await write(`jobs/${key}/err`, `${key}${"\0".repeat(3000)}${key}\n`);
    const ends = await control.readEnds(keys, "err");
    for (const key of keys) expect(ends?.get(key)).toBe(`${"\0".repeat(2038)}${key}\n`);
    expect(await control.absent(keys)).toEqual([]);
  });

  test("a stream that grows while it is read: nothing is taken for another job's", async () => {
    vi.stubEnv("PATH", `${machine.path("bin")}:${process.env.PATH}`);
    await waiting(A, B);
    await write(`jobs/${A}/err`, "of A\n");
    await write(`jobs/${B}/err`, "of B\n");
    await machine.write("bin/tail", `#!/bin/sh\necho more >>jobs/${A}/err\nexec /usr/bin/tail "$@"\n`);
    control.close();
    control = await Control.open(machine.session, machine.place);
    expect(await control.readEnds([A, B], "err")).toBeNull();
    expect((await control.readEnds([B], "err"))?.get(B)).toBe("of B\n");
  });

  test("what cannot be sent ends the channel: nothing else is taken for it", async () => {
    vi.stubEnv("PATH", `${machine.path("bin")}:${process.env.PATH}`);
    await machine.write("bin/head", "#!/bin/sh\nexit 1\n");
    await waiting(A);
    await write(`jobs/${A}/err`, "0123456789");
    await expect(control.readEnds([A], "err")).rejects.toBeInstanceOf(RemoteError);
  });
});

describe("when the channel is gone", () => {
  test("requests are rejected, before and after", async () => {
    await waiting(A);
    const pending = control.takeBack([A]);
    await machine.session.close();
    await pending.catch(() => undefined);
    await until("it is known", () =>
      control.takeBack([A]).then(
        () => false,
        (error: unknown) => error instanceof RemoteError,
      ),
    );
  });

  test("no spool on the machine", async () => {
    control = await Control.open(machine.session, machine.place);
    await expect(control.free([A])).rejects.toBeInstanceOf(RemoteError);
  });
});

describe("directories for next attempts", () => {
  test("which attempts have one, including uncollected files, and their sizes", async () => {
    await waiting(A, B, C);
    await write(`jobs/${A}/work/checkpoint`, Buffer.alloc(40_000, "x"));
    await write(`jobs/${B}/aside/1.1/checkpoint`, "7");
    expect(await control.findKept([A, B, C])).toEqual([A, B]);
    const kept = await control.noteKept([A, B, C]);
    expect([...kept.keys()]).toEqual([A, B]);
    expect(kept.get(A)).toBeGreaterThanOrEqual(40_000);
    expect(exists(`jobs/${A}/collected`)).toBe(true);
  });

  test("slots of an older version could not continue in them", async () => {
    await waiting(A);
    await write(`jobs/${A}/work/checkpoint`, "7");
    await write("slot.sh", (await read("slot.sh")).replaceAll("make_kept_work", "unknown"));
    expect(await control.findKept([A])).toBeNull();
  });
});
