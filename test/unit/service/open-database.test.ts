import { chmodSync, cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { UserError } from "../../../src/errors.js";
import { loadSqlite } from "../../../src/service/store/load-sqlite.js";
import { networkDiskAt } from "../../../src/service/store/network-disk.js";
import { openDatabase } from "../../../src/service/store/open-database.js";
import { MIGRATIONS } from "../../../src/service/store/schema.js";
import { aDir, addJobs, aRecord } from "./a-record.js";

async function refusal(dir: string): Promise<UserError> {
  const error = await openDatabase(dir).then(
    () => null,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(UserError);
  return error as UserError;
}

test("a new directory is 0700 and every file in it is 0600, whatever the umask", async () => {
  const before = process.umask(0);
  try {
    const dir = path.join(aDir(), "a", "service@host");
    const record = await aRecord({}, dir);
    record.secrets.keep({ KEY: "value" }, 1);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    const names = readdirSync(dir).sort();
    expect(names).toEqual([
      "queue.db",
      "queue.db-shm",
      "queue.db-wal",
      "secrets.db",
      "secrets.db-shm",
      "secrets.db-wal",
    ]);
    expect(names.map((name) => statSync(path.join(dir, name)).mode & 0o777)).toEqual(names.map(() => 0o600));
  } finally {
    process.umask(before);
  }
});

test("a directory that other accounts can enter is refused", async () => {
  const dir = aDir();
  chmodSync(dir, 0o755);
  expect((await refusal(dir)).hint).toBe(
    `chmod 700 ${dir}, or choose another directory: sshoal serve --state DIR`,
  );
});

test.each([
  ["text", (file: string) => writeFileSync(file, "not a database, but long enough ".repeat(40))],
  ["a directory", (file: string) => mkdirSync(file)],
])("a queue.db that is %s is refused and stays as it is", async (_, make) => {
  const dir = aDir();
  make(path.join(dir, "queue.db"));
  expect((await refusal(dir)).hint).toContain("move it away");
  expect(readdirSync(dir)).toEqual(["queue.db"]);
});

test("a database of another program is refused and stays as it is", async () => {
  const dir = aDir();
  const Sqlite = loadSqlite();
  const sql = new Sqlite(path.join(dir, "queue.db"));
  sql.exec("CREATE TABLE theirs (x)");
  sql.close();
  expect((await refusal(dir)).message).toContain("is not a record of the service");
  expect(readdirSync(dir)).toEqual(["queue.db"]);
});

test("a newer schema is refused with the version that wrote it", async () => {
  const dir = aDir();
  (await openDatabase(dir)).close();
  const Sqlite = loadSqlite();
  const sql = new Sqlite(path.join(dir, "queue.db"));
  sql.exec(
    `PRAGMA user_version = ${MIGRATIONS.length + 1}; UPDATE meta SET value = '9.9.9' WHERE name = 'version'`,
  );
  sql.close();
  const { message, hint } = await refusal(dir);
  expect(message).toContain("queue.db was made by sshoal 9.9.9, which is newer");
  expect(hint).toContain("upgrade");
});

test("other programs can read the record while the service has it open", async () => {
  const record = await aRecord();
  const Sqlite = loadSqlite();
  const [id] = addJobs(record, [{}]);
  const other = new Sqlite(record.file);
  expect(other.prepare("SELECT id FROM jobs").all()).toEqual([expect.objectContaining({ id })]);
  other.close();
});

const FIXTURES = path.join(import.meta.dirname, "../../databases");

test.each(readdirSync(FIXTURES))("a database of %s loads", async (name) => {
  const dir = aDir();
  cpSync(path.join(FIXTURES, name), dir, { recursive: true });
  chmodSync(dir, 0o700);
  const record = await openDatabase(dir);
  expect(record.queues.all().map(({ name, isPaused }) => [name, isPaused])).toEqual([
    ["default", false],
    ["gpu", true],
  ]);
  expect(record.search.find({}).map(({ queue, id, state }) => [queue, id, state])).toEqual([
    ["gpu", 1, "waiting"],
    ["default", 4, "waiting"],
    ["default", 3, "failed"],
    ["default", 2, "running"],
    ["default", 1, "succeeded"],
  ]);
  expect(record.jobs.find("default", 3)).toMatchObject({
    name: "train",
    priority: 7,
    after: [{ job: 1, when: "succeeded" }],
    terms: { retries: 2, timeoutSeconds: 60 },
    outcome: { kind: "exited", code: 3 },
    footprint: { memoryMb: 12 },
    stderrTail: "no such file",
    need: { gpu: { count: 0.5 } },
  });
  expect(record.heads.of("default").map(({ id }) => id)).toEqual([4]);
  expect(record.jobs.counts("default")).toMatchObject({ succeeded: 1, failed: 1, running: 1, waiting: 1 });
  expect(record.generations.open()).toHaveLength(1);
  expect(record.events.after(0)).toHaveLength(2);
  expect(record.answers.find("key")).toEqual({ queue: "default", ids: [1] });
  expect(record.machines.of("gpu")).toMatchObject([{ machine: "box", isDraining: true }]);
  const { inside } = record.jobs.findWithInside("default", 4) ?? {};
  expect(record.secrets.load(inside?.environment ?? "")).toEqual({ TOKEN: "s3cret" });
  record.close();
});

const MOUNTS = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:50 / /home/me/remote rw - fuse.sshfs host:/ rw
41 22 0:51 / /media/a\\040b rw - fuseblk /dev/sdb1 rw
42 40 0:52 / /home/me/remote/inner rw - fuse.mergerfs a:b rw`;
const FUSE = 0x65735546;

test.each([
  [0xef53, "/home/me", null],
  [0x6969, "/home/me", "NFS"],
  [-0x00acb2be, "/home/me", "CIFS"],
  [0x01021997, "/mnt", "9p"],
  [FUSE, "/home/me/remote/dir", "sshfs"],
  [FUSE, "/media/a b/dir", null],
  [FUSE, "/home/me/remote/inner", null],
  [FUSE, "/home/me/remoteness", "ext4"],
])("statfs type %d at %s is the network file system %s", (type, dir, expected) => {
  expect(networkDiskAt(dir, type, MOUNTS)).toBe(expected);
});
