import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { chmod, chown, link, mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RemoteError } from "../../../../src/remote/engine/remote-error.js";
import { type Collection, collect, collectWhenEnded } from "../../../../src/remote/results/collect.js";
import { entriesBelow } from "../../../rig/entries-below.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";
import { type LocalMachine, makeLocalMachine, never } from "../a-local-machine.js";

const A = "0000001-1";
const B = "0000002-1";

let machine: LocalMachine;
let here: Workspace;

beforeEach(async () => {
  machine = await makeLocalMachine();
  here = await makeWorkspace();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await machine.close();
  await here.remove();
});

const jobPath = (key: string, ...parts: string[]) => machine.path(machine.spool, "jobs", key, ...parts);

/** A job that has ended, with `files` as its results. As on a machine, its end is written last. */
async function ended(key: string, files: Readonly<Record<string, string>> = {}, exit = "0"): Promise<void> {
  const dir = `${machine.spool}/jobs/${key}`;
  await mkdir(jobPath(key, "work"), { recursive: true });
  for (const [name, text] of Object.entries({ out: `${key} said\n`, err: "", command: "x" })) {
    await machine.write(`${dir}/${name}`, text);
  }
  for (const [path, text] of Object.entries(files)) await machine.write(`${dir}/work/${path}`, text);
  await machine.write(`${dir}/exit`, `${exit}\n`);
}

function bring(keys: readonly string[], facts: Partial<Collection> = {}) {
  const jobs = keys.map((key) => ({ key, streams: ["out", "err"] as const }));
  return collect(machine.session, {
    place: machine.place,
    jobs,
    copyBack: ["."],
    into: here.dir,
    signal: never,
    ...facts,
  });
}

/** Files that have arrived, and links with their targets. */
function arrived(): string[] {
  return entriesBelow(here.dir)
    .filter((entry) => !entry.isDirectory())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const target = entry.isSymbolicLink() ? ` -> ${readlinkSync(path)}` : "";
      return `${path.slice(here.dir.length + 1)}${target}`;
    })
    .toSorted();
}

async function errorOf(collecting: Promise<unknown>): Promise<RemoteError> {
  const error = await collecting.then(
    () => new Error("it was collected"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RemoteError);
  return error as RemoteError;
}

test("a job's results, streams and outcome; nothing else, and nothing is removed on the machine", async () => {
  await ended(A, { "model.bin": "weights", "logs/1.txt": "log" }, "3");
  const { outcomes, written, leftOut } = await bring([A]);
  expect(arrived()).toEqual(["out", "work/logs/1.txt", "work/model.bin"].map((name) => `${A}/${name}`));
  expect(readFileSync(here.path(A, "work/model.bin"), "utf8")).toBe("weights");
  expect([outcomes.get(A), leftOut]).toEqual([{ kind: "exited", code: 3 }, []]);
  expect(written.get(A)).toEqual({ files: 2, bytes: 10 });
  expect(readFileSync(jobPath(A, "work/model.bin"), "utf8")).toBe("weights");
});

test("many jobs arrive in one stream", async () => {
  const keys = Array.from({ length: 200 }, (_, line) => `${String(line + 1).padStart(7, "0")}-1`);
  await Promise.all(keys.map((key, n) => ended(key, { result: `${n}` }, n % 2 === 0 ? "0" : "timed-out")));
  const exec = vi.spyOn(machine.session, "exec");
  const { outcomes } = await bring(keys);
  expect(exec).toHaveBeenCalledTimes(1);
  expect(outcomes.size).toBe(200);
  expect(outcomes.get("0000002-1")).toEqual({ kind: "timed-out" });
  for (const [n, key] of keys.entries())
    expect(readFileSync(here.path(key, "work/result"), "utf8")).toBe(`${n}`);
});

test("only the requested jobs and streams", async () => {
  await Promise.all([ended(A), ended(B)]);
  await machine.write(`${machine.spool}/jobs/${B}/err`, "wrong\n");
  await bring([], { jobs: [{ key: B, streams: ["err"] }] });
  expect(arrived()).toEqual([`${B}/err`]);
});

test("each job's own part of the results, if it has one", async () => {
  await Promise.all([A, B].map((key) => ended(key, { "out/x": "1", "it's": "2" })));
  const jobs = [
    { key: A, streams: [], copyBack: ["it's", "none"] },
    { key: B, streams: [] },
  ];
  await bring([], { jobs, copyBack: ["out"] });
  expect(arrived()).toEqual([`${A}/work/it's`, `${B}/work/out/x`]);
});

test("a part of the results, whether it exists or not", async () => {
  await ended(A, { "out put/x": "1", "it's": "2", other: "3", "deep/er/y": "4", "-rf": "5" });
  await bring([A], {
    copyBack: ["out put", "it's", "missing", "deep/er", "-rf", "*"],
    jobs: [{ key: A, streams: [] }],
  });
  expect(arrived()).toEqual(
    ["work/-rf", "work/deep/er/y", "work/it's", "work/out put/x"].map((name) => `${A}/${name}`),
  );
});

test("parts within one another arrive once", async () => {
  await ended(A, { "d/x": "1", y: "2" });
  await bring([A], { copyBack: ["d", ".", "d/x", "d"], jobs: [{ key: A, streams: [] }] });
  expect(arrived()).toEqual(["work/d/x", "work/y"].map((name) => `${A}/${name}`));
});

test("names and types of every kind", async () => {
  const names = ["a b", "new\nline", "-rf", "é日", "\\", "*", `${"deep/".repeat(25)}${"n".repeat(110)}`];
  await ended(A, Object.fromEntries(names.map((name) => [name, name])));
  await mkdir(jobPath(A, "work/empty"));
  await symlink("a b", jobPath(A, "work/inside"));
  await link(jobPath(A, "work/a b"), jobPath(A, "work/zz hard"));
  await bring([A], { jobs: [{ key: A, streams: [] }] });
  const expected = [...names, "zz hard", "inside -> a b"].map((name) => `${A}/work/${name}`);
  expect(arrived()).toEqual(expected.toSorted());
  for (const name of names) expect(readFileSync(here.path(A, "work", name), "utf8")).toBe(name);
  expect(readdirSync(here.path(A, "work"))).toContain("empty");
});

test("links that lead out of the results are left out, and named", async () => {
  await ended(A, { x: "1" });
  await symlink("/etc/passwd", jobPath(A, "work/passwd"));
  await symlink(jobPath(A, "work/x"), jobPath(A, "work/absolute"));
  const { leftOut } = await bring([A]);
  expect(leftOut.toSorted()).toEqual([
    `${A}/work/absolute (a link to ${jobPath(A, "work/x")}, outside the results)`,
    `${A}/work/passwd (a link to /etc/passwd, outside the results)`,
  ]);
});

test("files that not even their owner may read are still collected", async () => {
  await ended(A, { "closed/file": "1", "closed/too/file": "3", secret: "2" });
  for (const path of ["secret", "closed/too", "closed"]) await chmod(jobPath(A, "work", path), 0);
  if (process.getuid?.() === 0) await beOrdinaryOverThere();
  await bring([A], { jobs: [{ key: A, streams: [] }] });
  expect(readFileSync(here.path(A, "work/closed/too/file"), "utf8")).toBe("3");
  expect(readFileSync(here.path(A, "work/closed/file"), "utf8")).toBe("1");
  expect(readFileSync(here.path(A, "work/secret"), "utf8")).toBe("2");
});

describe.runIf(process.getuid?.() === 0).each(["/usr/bin/", "busybox "])(
  "files of another user, with %star and find",
  (tools) => {
    /** Root's files, in the results of an account that is not root. */
    async function aClosedResult(): Promise<void> {
      await ended(A, { "a/ours": "1", "a/secret": "2", "closed/x": "3", "odd\nname/y": "4" });
      await beOrdinaryOverThere(tools);
      for (const path of ["a/secret", "closed", "odd\nname/y"]) {
        await chown(jobPath(A, "work", path), 0, 0);
        await chmod(jobPath(A, "work", path), 0o700);
      }
    }

    const rest = (only: readonly string[]) => bring([], { jobs: [{ key: A, streams: [], only }] });

    test("the rest arrives, and unreadable paths are named", async () => {
      await aClosedResult();
      const { missing, outcomes } = await bring([A]);
      expect(arrived()).toEqual([`${A}/out`, `${A}/work/a/ours`]);
      // A name with a newline cannot be requested, and neither can its directory, which also has one.
      expect([...missing]).toEqual([[A, ["./"]]]);
      expect(outcomes.get(A)).toEqual({ kind: "exited", code: 0 });
    });

    test("later only the missing paths are requested, and arrive as far as they are readable then", async () => {
      await aClosedResult();
      await chmod(jobPath(A, "work/a/secret"), 0o644);
      const { missing } = await rest(["a/secret", "closed/", "closed/x", "gone", "gone/too"]);
      expect(arrived()).toEqual([`${A}/work/a/secret`]);
      expect([...missing]).toEqual([[A, ["closed/"]]]);
    });

    test("finally everything arrives", async () => {
      await aClosedResult();
      await chmod(jobPath(A, "work/closed"), 0o755);
      const { missing } = await rest(["closed/", "a/ours"]);
      expect(arrived()).toEqual([`${A}/work/a/ours`, `${A}/work/closed/x`]);
      expect(missing.size).toBe(0);
    });
  },
);

/** For root everything is readable: so the tools that read are run as another user, who owns it all. */
async function beOrdinaryOverThere(tools = "/usr/bin/"): Promise<void> {
  for (const tool of ["find", "tar"]) {
    const asNobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    await machine.write(`bin/${tool}`, `#!/bin/sh\nexec ${asNobody} ${tools}${tool} "$@"\n`);
  }
  vi.stubEnv("PATH", `${machine.path("bin")}:${process.env.PATH}`);
  execFileSync("chmod", ["755", machine.dir]);
  execFileSync("chown", ["-R", "65534:65534", machine.path(machine.spool, "jobs")]);
}

test("a job that removed its own directory has no results, and still ended", async () => {
  await ended(A);
  await rm(jobPath(A, "work"), { recursive: true });
  expect((await bring([A])).outcomes.get(A)).toEqual({ kind: "exited", code: 0 });
});

test("a job that has not ended is not collected", async () => {
  await ended(A);
  await rm(jobPath(A, "exit"));
  expect((await errorOf(bring([A]))).message).toBe(`the machine did not report how attempt ${A} ended`);
});

test("an incomplete `exit` does not count", async () => {
  await ended(A, {}, "time");
  await errorOf(bring([A]));
});

test("no spool on the machine", async () => {
  expect((await errorOf(bring([A]))).message).toMatch(/^collecting results failed: .*cd/);
});

test("a job that another client has collected: that is the reason", async () => {
  await ended(A);
  expect((await errorOf(bring([B]))).message).toContain("they are no longer there: another computer");
});

test("a missing job among existing ones", async () => {
  await ended(A);
  await errorOf(bring([A, B]));
});

test.each([
  ["says nothing", "exit 1"],
  ["fails after a part", '/usr/bin/tar "$@" | head -c 2048; echo "tar: read error" >&2; exit 2'],
  ["fails at the very end", '/usr/bin/tar "$@"; echo "tar: out of memory" >&2; exit 1'],
  ["is not there", "exit 127"],
])("a tar that %s: nothing counts as collected", async (_, script) => {
  await ended(A, { x: "1".repeat(5000) });
  await machine.write("bin/tar", `#!/bin/sh\n${script}\n`);
  vi.stubEnv("PATH", `${machine.path("bin")}:${process.env.PATH}`);
  await errorOf(bring([A]));
});

test("an abort is passed on", async () => {
  await ended(A);
  const reason = new Error("stopped");
  await expect(bring([A], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(arrived()).toEqual([]);
});

describe("results that are requested in advance", () => {
  const request = (key: string) => {
    const jobs = [{ key, streams: ["out", "err"] as const }];
    return collectWhenEnded(machine.session, { place: machine.place, jobs, copyBack: ["."] });
  };

  test("arrive once the job has ended, whole", async () => {
    const running = await request(A);
    // Without its newline this is no end yet.
    await machine.write(`${machine.spool}/jobs/${A}/exit`, "0");
    await ended(A, { "model.txt": "weights" });
    const asked = {
      place: machine.place,
      jobs: [{ key: A, streams: ["out", "err"] as const }],
      copyBack: ["."],
    };
    const collected = await collect(machine.session, { ...asked, into: here.dir, signal: never }, running);
    expect(collected.outcomes.get(A)).toEqual({ kind: "exited", code: 0 });
    expect(readFileSync(here.path(`${A}/work/model.txt`), "utf8")).toBe("weights");
    expect(readFileSync(here.path(`${A}/out`), "utf8")).toBe(`${A} said\n`);
  });

  test("are left out if the job takes long", async () => {
    const running = await request(B);
    expect(await running.ended).toEqual({ kind: "exited", code: 0 });
    expect(running.stdout.read()).toBeNull();
  });
});
