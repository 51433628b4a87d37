import { existsSync, mkdirSync, readdirSync, realpathSync, statSync, symlinkSync } from "node:fs";
import { appendFile, chmod, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RemoteError } from "../../../../src/remote/engine/remote-error.js";
import { type HandOver, handOver, NothingArrived } from "../../../../src/remote/spool/hand-over.js";
import { readSpoolFormat } from "../../../../src/remote/spool/spool-format.js";
import { takeBack } from "../../../../src/remote/spool/take-back.js";
import { shippingOf } from "../../../../src/remote/tree/shipping.js";
import { stage } from "../../../../src/remote/tree/stage.js";
import { scanTree, type Tree } from "../../../../src/remote/tree/tree.js";
import type { Session } from "../../../../src/transport/session.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";
import { anOrder, type LocalMachine, makeLocalMachine, never, pathWithout } from "../a-local-machine.js";
import { BATCH, HOST } from "../a-spool.js";

const A = "0000001-1";
const B = "0000002-1";

let machine: LocalMachine;

beforeEach(async () => {
  machine = await makeLocalMachine();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await machine.close();
});

const read = (path: string) => machine.read(`${machine.spool}/${path}`);
const exists = (path: string) => existsSync(machine.path(machine.spool, path));

async function give(
  jobs: Readonly<Record<string, string>>,
  facts: Partial<HandOver> = {},
): ReturnType<typeof handOver> {
  return handOver(machine.session, anOrder(machine, jobs, facts));
}

async function giveAndWait(
  jobs: Readonly<Record<string, string>>,
  facts: Partial<HandOver> = {},
): Promise<void> {
  await give(jobs, facts);
  for (const key of Object.keys(jobs)) await machine.untilEvent(`ended ${key}`);
  await machine.untilEvent("idle 0");
}

test("jobs that were handed over run without a client", async () => {
  await give({ [A]: "echo one", [B]: "echo two; exit 5" });
  await machine.session.close();
  await machine.untilEvent(`ended ${B} 0 5`);
  expect([await read(`jobs/${A}/out`), await read(`jobs/${B}/out`)]).toEqual(["one\n", "two\n"]);
  expect([await read(`jobs/${A}/exit`), await read(`jobs/${B}/exit`)]).toEqual(["0\n", "5\n"]);
});

describe("a tree that travels with the jobs", () => {
  let work: Workspace;
  let tree: Tree;
  let carried: Buffer;

  beforeEach(async () => {
    work = await makeWorkspace({ "run.sh": "#!/bin/sh\necho it runs\n", "d/data": "1\n" });
    await chmod(work.path("run.sh"), 0o755);
    tree = await scanTree(work.dir, ["."]);
    carried = shippingOf(tree).carried();
  });
  afterEach(() => work.remove());

  const modeOf = (path: string) => statSync(machine.path(path)).mode & 0o777;

  test.each([["GNU"], ["busybox"]])("is there for them, whole, and private (%s tar)", async (kind) => {
    if (kind === "busybox") {
      const bin = machine.path("bin");
      mkdirSync(bin);
      for (const name of ["tar", "busybox"]) symlinkSync("/bin/busybox", join(bin, name));
      vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
    }
    expect(await give({ [A]: "./run.sh; cat d/data" }, { tree, carried })).toMatchObject({ hadTree: false });
    await machine.untilEvent(`ended ${A} 0 0`);
    expect(await read(`jobs/${A}/out`)).toBe("it runs\n1\n");
    expect(readdirSync(machine.path(".sshoal/trees"))).toEqual([tree.hash]);
    expect(modeOf(".sshoal/trees")).toBe(0o700);
    expect(modeOf(`.sshoal/trees/${tree.hash}`)).toBe(0o700);
    expect(modeOf(`.sshoal/trees/${tree.hash}/run.sh`)).toBe(statSync(work.path("run.sh")).mode & 0o777);
    for (const dir of ["jobs", `jobs/${A}`, "needs"]) expect(modeOf(`${machine.spool}/${dir}`)).toBe(0o700);
  });

  test("stays as it is if the machine has it, and counts as used", async () => {
    await stage(machine.session, { place: machine.place, tree, signal: never, onProgress: () => {} });
    const there = machine.path(`.sshoal/trees/${tree.hash}`);
    const { ino } = statSync(there);
    await utimes(there, 1, 1);
    expect(await give({ [A]: "./run.sh" }, { tree, carried })).toMatchObject({ hadTree: true });
    await machine.untilEvent(`ended ${A} 0 0`);
    expect(statSync(there)).toMatchObject({ ino });
    expect(statSync(there).mtimeMs).toBeGreaterThan(1000);
    expect(readdirSync(there).sort()).toEqual(["d", "run.sh"]);
  });

  test("also comes with later jobs", async () => {
    await giveAndWait({ [A]: "true" });
    await giveAndWait({ [B]: "./run.sh" }, { tree, carried, isFurnished: true });
    expect(await read(`jobs/${B}/out`)).toBe("it runs\n");
  });

  test("is refused, with its jobs, if another account could change the directory for trees", async () => {
    await machine.write("elsewhere/file", "");
    mkdirSync(machine.path(".sshoal"));
    symlinkSync(machine.path("elsewhere"), machine.path(".sshoal/trees"));
    await expect(give({ [A]: "true" }, { tree, carried })).rejects.toThrow("is a symbolic link");
    expect(readdirSync(machine.path("elsewhere"))).toEqual(["file"]);
  });
});

test("if a logout ends processes, slots start in scopes; if that fails, without", async () => {
  await machine.write(
    "bin/systemd-run",
    '#!/bin/sh\necho "$*" >>"$HOME/scopes"\n[ -e "$HOME/works" ] || exit 1\nshift 3\nexec "$@"\n',
  );
  vi.stubEnv("PATH", `${machine.path("bin")}:${process.env.PATH}`);
  const settings = { copiesUnchanged: false, timeoutSeconds: null, inPlace: null, usesScopes: true };
  await giveAndWait({ [A]: "echo one" }, { settings });
  expect(await machine.read("scopes")).toBe("--user --scope --quiet true\n");
  await machine.write("works", "");
  await giveAndWait({ [B]: "echo two" }, { settings });
  expect(await machine.read("scopes")).toContain("--user --scope --quiet setsid sh slot.sh ");
  expect([await read(`jobs/${A}/out`), await read(`jobs/${B}/out`)]).toEqual(["one\n", "two\n"]);
});

test("plain slots run each job in its own shell, and make no fifos", async () => {
  const settings = { copiesUnchanged: false, timeoutSeconds: null, inPlace: null, hasPlainSlots: true };
  await giveAndWait({ [A]: "true" }, { settings });
  expect(existsSync(machine.path(machine.spool, "slots/0/run"))).toBe(false);
  await giveAndWait({ [B]: "true" });
  expect(existsSync(machine.path(machine.spool, "slots/0/run"))).toBe(true);
});

test("it returns while its jobs run", async () => {
  await give({ [A]: `until [ -e "$HOME/go" ]; do sleep 0.02; done` });
  await machine.untilEvent(`started ${A}`);
  await machine.write("go", "");
  await machine.untilEvent(`ended ${A} 0 0`);
});

test("the same jobs handed over twice run once", async () => {
  const jobs = { [A]: 'echo ran >>"$HOME/log"' };
  await giveAndWait(jobs);
  await giveAndWait(jobs);
  expect(await machine.read("log")).toBe("ran\n");
  expect(readdirSync(machine.path(machine.spool)).filter((name) => name.startsWith("incoming"))).toEqual([]);
});

test("if the spool was removed in the meantime, further jobs are refused, and no part of it is created", async () => {
  await giveAndWait({ [A]: "true" });
  await rm(machine.path(machine.spool), { recursive: true });
  await expect(give({ [B]: "true" }, { isFurnished: true })).rejects.toThrow(
    "what was handed over before is not there any more",
  );
  expect(exists("")).toBe(false);
});

test("a job that arrived and was freed in the meantime does not arrive again", async () => {
  const jobs = { [A]: 'echo ran >>"$HOME/log"' };
  await giveAndWait(jobs);
  await appendFile(machine.path(machine.spool, `events.${HOST}.2`), `freed ${A}\n`);
  await rm(machine.path(machine.spool, "jobs", A), { recursive: true });
  await give({ ...jobs, [B]: "true" });
  await machine.untilEvent(`ended ${B}`);
  expect(exists(`jobs/${A}`)).toBe(false);
  expect(await machine.read("log")).toBe("ran\n");
});

test("jobs that a killed hand-over left under the same name do not get in", async () => {
  const left = `"$HOME/${machine.spool}/incoming.$$/jobs/${B}"`;
  const prepared: Session = {
    ...machine.session,
    exec: (script) => machine.session.exec(`mkdir -p ${left}; echo true >${left}/command\n${script}`),
  };
  await handOver(prepared, anOrder(machine, { [A]: "true" }));
  await machine.untilEvent("idle 0");
  expect(readdirSync(machine.path(machine.spool, "jobs"))).toEqual([A]);
});

test("a removed spool is not created again by a hand-over that brings only jobs", async () => {
  await giveAndWait({ [A]: "true" });
  await rm(machine.path(machine.spool), { recursive: true });
  await expect(give({ [B]: "true" }, { isFurnished: true })).rejects.toBeInstanceOf(NothingArrived);
  expect(exists(".")).toBe(false);
});

test("a job that was taken back before it arrived is reported, and is not accepted", async () => {
  const { place, session } = machine;
  expect(await takeBack(session, { place, keys: [A], signal: never })).toEqual({ taken: [A], begun: [] });
  expect(await give({ [A]: 'touch "$HOME/ran"', [B]: "true" })).toMatchObject({ missing: [], taken: [A] });
  await machine.untilEvent(`ended ${B}`);
  await machine.untilEvent("idle 0");
  expect(existsSync(machine.path("ran"))).toBe(false);
});

test("later jobs are added to the existing ones", async () => {
  await giveAndWait({ [A]: "echo one" });
  await giveAndWait({ [B]: "echo two" });
  expect([await read(`jobs/${A}/out`), await read(`jobs/${B}/out`)]).toEqual(["one\n", "two\n"]);
});

test("several slots run jobs at the same time, and each job knows its slot", async () => {
  const wait =
    'echo "$SSHOAL_SLOT"; mkdir -p "$HOME/in"; touch "$HOME/in/$SSHOAL_SLOT"; until [ $(ls "$HOME/in" | wc -l) = 2 ]; do sleep 0.02; done';
  await give({ [A]: wait, [B]: wait }, { slots: 2 });
  await machine.untilEvent(`ended ${A}`);
  await machine.untilEvent(`ended ${B}`);
  const said = [await read(`jobs/${A}/out`), await read(`jobs/${B}/out`)].toSorted();
  expect(said).toEqual(["0\n", "1\n"]);
});

test("jobs start in the tree, and a time limit applies", async () => {
  const work = await makeWorkspace({ "a/x.txt": "from here\n" });
  try {
    const tree = await scanTree(work.dir, ["."]);
    await stage(machine.session, { place: machine.place, tree, signal: never, onProgress: () => {} });
    await giveAndWait(
      { [A]: "cat a/x.txt; sleep 600" },
      { tree, settings: { copiesUnchanged: false, timeoutSeconds: 1, inPlace: null } },
    );
    expect([await read(`jobs/${A}/out`), await read(`jobs/${A}/exit`)]).toEqual([
      "from here\n",
      "timed-out\n",
    ]);
  } finally {
    await work.remove();
  }
});

describe("a job has the settings of its user's login", () => {
  test.each([
    ["a locale", { LC_ALL: "C.UTF-8" }, "LC_ALL=C.UTF-8"],
    ["no locale", { LC_ALL: undefined }, "none"],
  ])("%s", async (_, { LC_ALL }, expected) => {
    vi.stubEnv("LC_ALL", LC_ALL);
    await giveAndWait({ [A]: 'env | grep "^LC_ALL=" || echo none' });
    expect(await read(`jobs/${A}/out`)).toBe(`${expected}\n`);
  });

  test("the umask", async () => {
    const before = process.umask(0o027);
    try {
      await giveAndWait({ [A]: "umask" });
      expect(Number.parseInt(await read(`jobs/${A}/out`), 8)).toBe(0o027);
    } finally {
      process.umask(before);
    }
  });
});

describe("the claim of a slot", () => {
  const claims = 'cat "$SSHOAL_CLAIMS/.sshoal-claims-$(id -u)"/*';
  const ROOM = `batch ${BATCH}\ncpu 8000 0\nkeep 0 0 0\njobs -\nslots 0\n`;
  /** Their memory is not measured. */
  const CARDS = [0, 3].map((index) => `card ${index} GPU-${index} amd 8000 - - t -\n`).join("");

  test.each<[string, string, string, string[]]>([
    ["plain", "need - 1 1000 0\n", "1 1 0 0 0 0 -", []],
    ["a part of a core", "need - 1 250 0\n", "1 0.25 0 0 0 0 -", []],
    ["the whole machine", "need - 2 1000 1\n", "2 1 0 0 0 1 -", []],
    [
      "two cards of its own",
      "need - 1 1000 0\ncards - 2 0 11 750 1 * 0\n",
      "1 1 11 0.75 1 0 GPU-0,GPU-3",
      ["on GPU-0 11 750 1000", "on GPU-3 11 750 1000"],
    ],
    [
      "a card that is shared",
      "need - 1 1000 0\ncards - 1 0 1000 300 0 3 0\n",
      "1 1 1000 0.3 0 0 GPU-3",
      ["on GPU-3 1000 300 0"],
    ],
    [
      "a part of a card",
      "need - 1 1000 0\ncards - 0 500 7 500 0 3 0\n",
      "1 1 7 0.5 0 0 GPU-3",
      ["on GPU-3 7 500 500"],
    ],
    ["a resource", "need - 1 1000 0\nwants - licence 1000\n", "1 1 0 0 0 0 -", ["has licence l-1 1000"]],
  ])("%s", async (_, need, claim, lines) => {
    const room = `${ROOM}${CARDS}res licence l-1 1000\n`;
    await giveAndWait({ [A]: claims }, { room, needs: new Map([["-", need]]) });
    const [first, by, ...rest] = (await read(`jobs/${A}/out`)).split("\n");
    expect(first).toBe(claim);
    expect(by).toMatch(new RegExp(`^by ${BATCH} 0000000001 \\d+$`));
    expect(rest).toEqual([...lines, "end", ""]);
    expect(await read("slots/0/log")).toBe("");
  });
});

test("with scratch: the files are there, and batches still share the home directory", async () => {
  const place = { batch: BATCH, scratch: machine.path("fast disk") };
  await give({ [A]: "echo ran" }, { place });
  const spool = `fast disk/.sshoal/batches/${BATCH}@${HOST}`;
  await machine.untilEvent(`ended ${A}`); // through the link
  expect(await machine.read(`${spool}/jobs/${A}/out`)).toBe("ran\n");
  expect(realpathSync(machine.path(machine.spool))).toBe(machine.path(spool));
});

describe("faults", () => {
  async function errorOf(work: Promise<unknown>): Promise<RemoteError> {
    const error = await work.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RemoteError);
    return error as RemoteError;
  }

  test.each(["tar", "setsid", "find", "xargs", "awk"])(
    "if %s is missing on the machine, the error names it",
    async (tool) => {
      vi.stubEnv("PATH", pathWithout(machine, tool));
      const { message } = await errorOf(give({ [A]: "true" }));
      expect(message).toMatch(/^handing over failed: /);
      expect(message).toContain(tool);
    },
  );

  test("a directory that is not writable: the hint suggests another one", async () => {
    const { hint } = await errorOf(
      give({ [A]: "true" }, { place: { batch: BATCH, scratch: "/sys/kernel" } }),
    );
    expect(hint).toContain("scratch:");
  });

  test("a connection that is lost on the way: none of the incomplete jobs runs", async () => {
    const cut: Session = {
      ...machine.session,
      async exec(script) {
        const running = await machine.session.exec(script);
        const stdin = new PassThrough();
        // Whole entries without the last one, which tar accepts as an archive.
        stdin.on("data", (chunk: Buffer) => running.stdin.end(chunk.subarray(0, chunk.length - 1024 - 512)));
        return { ...running, stdin };
      },
    };
    await errorOf(handOver(cut, anOrder(machine, { [A]: 'touch "$HOME/ran"' })));
    expect(exists(".")).toBe(false);
  });

  test("an abort is passed on", async () => {
    const reason = new Error("stopped");
    await expect(give({ [A]: "true" }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(exists(".")).toBe(false);
  });
});

describe("the loops of slots", () => {
  const WAIT = 'until [ -e "$HOME/go" ]; do sleep 0.02; done';

  test("at most as many are started as there are jobs; later jobs start the next ones", async () => {
    await give({ [A]: WAIT }, { slots: 4 });
    await machine.untilEvent(`started ${A}`);
    await give({ [B]: WAIT, "0000003-1": WAIT }, { slots: 4, isFurnished: true });
    await machine.untilEvent(`started ${B}`);
    await machine.untilEvent("started 0000003-1");
    expect(exists("slots/3/log")).toBe(false);
    await machine.write("go", "");
    for (const slot of [0, 1, 2]) await machine.untilEvent(`idle ${slot}`);
  });

  test("if all are busy, the next one that is free takes the new jobs", async () => {
    await give({ [A]: WAIT }, { slots: 1 });
    await machine.untilEvent(`started ${A}`);
    await give({ [B]: "echo second" }, { slots: 1, isFurnished: true });
    await machine.write("go", "");
    await machine.untilEvent(`ended ${B} 0 0`);
  });
});

describe("a spool of another version", () => {
  test("of the same format keeps its scripts, because loops may be running them", async () => {
    await giveAndWait({ [A]: "echo one" });
    const theirs = `${await read("slot.sh")}# of another version\n`;
    await machine.write(`${machine.spool}/slot.sh`, theirs);
    await giveAndWait({ [B]: "echo two" });
    expect(await read("slot.sh")).toBe(theirs);
    expect(await read("format")).toBe("3\n");
  });

  test.each([
    ["older", null, "an older sshoal made the spool that is there, which gets no more jobs"],
    ["newer", "4\n", "a newer sshoal made the spool that is there: upgrade this one"],
  ])("with a format that is %s is refused, and nothing in it changes", async (_, format, reason) => {
    await machine.write(`${machine.spool}/trees`, "-\n");
    await machine.write(`${machine.spool}/slot.sh`, "exit 1\n");
    if (format !== null) await machine.write(`${machine.spool}/format`, format);
    const before = readdirSync(machine.path(machine.spool));
    const failure = await give({ [A]: "echo one" }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NothingArrived);
    expect((failure as Error).message).toContain(reason);
    expect(readdirSync(machine.path(machine.spool))).toEqual(before);
    expect(await read("slot.sh")).toBe("exit 1\n");
  });

  test("its format is returned; that of a newer one is refused with what to type", async () => {
    const format = () => readSpoolFormat(machine.session, machine.place, never);
    expect(await format()).toBe(null);
    await machine.write(`${machine.spool}/trees`, "-\n");
    expect(await format()).toBe(1);
    await machine.write(`${machine.spool}/format`, "3\n");
    expect(await format()).toBe(3);
    await machine.write(`${machine.spool}/format`, "4\n");
    await expect(format()).rejects.toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/^upgrade this one: /) }),
    );
  });
});

test("names of what a job got are in a file of their own, and the command stays as typed", async () => {
  const order = anOrder(machine, { [A]: "echo '{gpu}'", [B]: "echo" });
  const jobs = order.jobs.map((job) => (job.key === A ? { ...job, names: ["gpu", "nvme"] } : job));
  await handOver(machine.session, { ...order, jobs });
  expect(await read(`jobs/${A}/names`)).toBe("gpu nvme\n");
  expect(await read(`jobs/${A}/command`)).toContain("echo '{gpu}'\n");
  expect(exists(`jobs/${B}/names`)).toBe(false);
});
