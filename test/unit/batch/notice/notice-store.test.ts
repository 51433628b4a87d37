import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NoticeStore } from "../../../../src/batch/notice/notice-store.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

const NOTICE = { command: "curl https://example.org/secret", on: "end" } as const;

let work: Workspace;
let place: { stateDir: string; computer: string };

beforeEach(async () => {
  work = await makeWorkspace({ "a/job_results/.sshoal/jobs.sh.jsonl": "" });
  place = { stateDir: work.path("state/sshoal"), computer: "here" };
});
afterEach(() => work.remove());

const store = (stem = "jobs.sh", dir = "a") => new NoticeStore(place, work.path(dir), stem);
const files = () => readdirSync(work.path("state/sshoal/notices@here"));
const path = (name = files()[0] ?? "") => work.path("state/sshoal/notices@here", name);

test("it is kept in a private file, and taken by one client alone", () => {
  expect(store().load()).toBe(null);
  expect(store().save(NOTICE, 1000)).toBe(true);
  expect(statSync(path()).mode & 0o777).toBe(0o600);
  expect(statSync(work.path("state/sshoal/notices@here")).mode & 0o777).toBe(0o700);
  expect(store().load()).toMatchObject({ ...NOTICE, since: 1000 });
  expect(store("other.sh").load()).toBe(null);
  expect(store().claim()).toMatchObject(NOTICE);
  expect(store().claim()).toBe(null);
  expect(files()).toEqual([]);
});

test("asked for again, the last command counts, and the first time", () => {
  store().save(NOTICE, 1000);
  store().save({ command: "other", on: "failure" }, 2000);
  expect(store().load()).toMatchObject({ command: "other", on: "failure", since: 1000 });
  store().drop();
  expect(store().load()).toBe(null);
});

test("a file that is damaged, or of a later version, holds no command", () => {
  store().save(NOTICE, 1000);
  const text = readFileSync(path(), "utf8");
  for (const damaged of [
    "",
    "{}",
    "null",
    text.slice(0, -3),
    text.replace('"v":1', '"v":2'),
    text.replace('"end"', '"x"'),
  ]) {
    writeFileSync(path(), damaged);
    expect(store().load()).toBe(null);
  }
});

test("what is left of batches that are gone, and of clients that were killed, is removed", () => {
  mkdirSync(work.path("b"));
  store("gone.sh", "b").save(NOTICE, 0);
  const claimed = path(`${"a".repeat(32)}.json.1234.claimed`);
  writeFileSync(claimed, "{}");
  store().save(NOTICE, 0);
  // It was claimed a moment ago: its client may be about to run it.
  expect(files().filter((name) => name.endsWith(".claimed"))).toHaveLength(1);
  expect(files().filter((name) => name.endsWith(".json"))).toHaveLength(1);
});

test("where nothing can be written nothing is kept, and nothing fails", () => {
  writeFileSync(work.path("file"), "");
  const blocked = new NoticeStore({ stateDir: work.path("file/sshoal"), computer: "here" }, work.dir, "j");
  expect(blocked.save(NOTICE, 0)).toBe(false);
  expect(blocked.saveOutput(Buffer.from("x"))).toBe(null);
  const none = new NoticeStore({ stateDir: null, computer: "here" }, work.dir, "j");
  expect([none.save(NOTICE, 0), none.load(), none.claim(), none.saveOutput(Buffer.from("x"))]).toEqual([
    false,
    null,
    null,
    null,
  ]);
  none.drop();
});

test("output is kept in a private file", () => {
  const file = store().saveOutput(Buffer.from("no route")) ?? "";
  expect(readFileSync(file, "utf8")).toBe("no route");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(file).toBe(join(place.stateDir, "notices@here/last-output"));
});
