import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { UserError } from "../../../../src/errors.js";
import { readHolder, takeLock } from "../../../../src/run/home/lock.js";
import { until } from "../../../rig/until.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
let path: string;

beforeEach(async () => {
  work = await makeWorkspace();
  path = work.path("jobs.sh.lock");
});
afterEach(() => work.remove());

/** The pid of a process that has ended: its lock is free. */
async function deadPid(): Promise<number> {
  const child = spawn("true");
  await new Promise((resolve) => child.once("close", resolve));
  return child.pid as number;
}

test("a second client learns the holder, and no holder after it was released", () => {
  const letGo = takeLock(path);
  expect(() => takeLock(path)).toThrow(`another client follows this batch: process ${process.pid}`);
  expect(readHolder(path)).toMatchObject({ pid: process.pid, host: hostname() });
  letGo();
  expect(readHolder(path)).toBeNull();
  takeLock(path)();
  expect(readdirSync(work.dir)).toEqual([]);
});

test("the lock of a killed client is free, even if its pid is reused", async () => {
  const [gone, reused] = [await deadPid(), process.pid];
  for (const pid of [gone, reused]) {
    writeFileSync(path, JSON.stringify({ pid, startedAt: "1", host: hostname() }));
    takeLock(path)();
  }
  expect(readdirSync(work.dir)).toEqual([]);
});

test("the lock of a killed client is free before its parent has asked how it ended", async () => {
  const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"]);
  try {
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    const fields = () => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    writeFileSync(path, JSON.stringify({ pid, startedAt: fields()[19], host: hostname() }));
    expect(readHolder(path)).not.toBeNull();
    // A shell may ask for the end of its child, a sleep does not.
    await until(
      "its parent is a sleep",
      () => readFileSync(`/proc/${parent.pid}/comm`, "utf8") === "sleep\n",
    );
    process.kill(pid, "SIGKILL");
    await until("it has ended", () => fields()[0] === "Z");
    takeLock(path)();
  } finally {
    parent.kill("SIGKILL");
  }
});

test("an empty or incomplete lock is free", () => {
  for (const text of ["", '{"pid":', "null"]) {
    writeFileSync(path, text);
    takeLock(path)();
  }
});

test("the lock of another computer holds, because its client cannot be checked", () => {
  writeFileSync(path, JSON.stringify({ pid: 1, startedAt: "1", host: "elsewhere" }));
  const error = catchError(() => takeLock(path));
  expect(error.message).toBe("another client follows this batch: process 1 on elsewhere");
  expect(error.hint).toBe(`if it is gone: rm ${path}`);
  expect(readFileSync(path, "utf8")).toContain("elsewhere");
});

function catchError(act: () => unknown): UserError {
  try {
    act();
  } catch (error) {
    return error as UserError;
  }
  throw new Error("it did not throw");
}
