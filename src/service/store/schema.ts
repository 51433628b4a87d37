// The tables of the service's record. docs/service-record.md documents them for queries of users.

/** Marks the file as ours: "sshq". */
export const APPLICATION_ID = 0x73736871;

/** Jobs that may be given to the engine now. */
export const IS_READY = "state = 'waiting' AND held = 0 AND unmet = 0 AND given IS NULL";

const SCHEMA_1 = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE queues (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  environment TEXT,
  is_paused INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  next_id INTEGER NOT NULL DEFAULT 1
) WITHOUT ROWID;

CREATE TABLE jobs (
  place INTEGER PRIMARY KEY,
  queue TEXT NOT NULL REFERENCES queues (name) ON DELETE CASCADE,
  id INTEGER NOT NULL,
  name TEXT,
  command TEXT NOT NULL,
  cwd TEXT NOT NULL,
  need TEXT NOT NULL,
  kind TEXT NOT NULL,
  priority INTEGER NOT NULL,
  dependencies TEXT,
  terms TEXT NOT NULL,
  tree TEXT,
  environment TEXT,
  state TEXT NOT NULL,
  held INTEGER NOT NULL,
  unmet INTEGER NOT NULL,
  given INTEGER,
  turns INTEGER NOT NULL DEFAULT 0,
  attempt INTEGER NOT NULL DEFAULT 0,
  machine TEXT,
  got TEXT,
  reason TEXT,
  enqueued_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  duration_ms INTEGER,
  outcome TEXT,
  footprint TEXT,
  stderr_tail TEXT,
  results TEXT NOT NULL,
  UNIQUE (queue, id)
);
CREATE INDEX jobs_ready ON jobs (queue, kind, priority DESC, id) WHERE ${IS_READY};
CREATE INDEX jobs_waiting ON jobs (queue, priority DESC, id) WHERE state = 'waiting';
CREATE INDEX jobs_state ON jobs (queue, state, id);
CREATE INDEX jobs_name ON jobs (queue, name) WHERE name IS NOT NULL;
CREATE INDEX jobs_given ON jobs (given, id) WHERE given IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (queue, ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX jobs_environment ON jobs (environment) WHERE environment IS NOT NULL;
CREATE INDEX jobs_tree ON jobs (tree) WHERE tree IS NOT NULL;

CREATE TABLE edges (
  queue TEXT NOT NULL,
  job INTEGER NOT NULL,
  comes_after INTEGER NOT NULL,
  condition TEXT NOT NULL,
  is_met INTEGER NOT NULL,
  PRIMARY KEY (queue, job, comes_after, condition),
  FOREIGN KEY (queue, job) REFERENCES jobs (queue, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX edges_back ON edges (queue, comes_after);

CREATE TABLE counts (
  queue TEXT NOT NULL,
  state TEXT NOT NULL,
  jobs INTEGER NOT NULL,
  PRIMARY KEY (queue, state)
) WITHOUT ROWID;
CREATE TRIGGER jobs_added AFTER INSERT ON jobs BEGIN
  INSERT INTO counts VALUES (NEW.queue, NEW.state, 1) ON CONFLICT DO UPDATE SET jobs = jobs + 1;
  INSERT INTO counts SELECT NEW.queue, 'held', 1 WHERE NEW.held = 1 AND NEW.state = 'waiting'
    ON CONFLICT DO UPDATE SET jobs = jobs + 1;
END;
CREATE TRIGGER jobs_removed AFTER DELETE ON jobs BEGIN
  UPDATE counts SET jobs = jobs - 1 WHERE queue = OLD.queue AND state = OLD.state;
  UPDATE counts SET jobs = jobs - 1
    WHERE queue = OLD.queue AND state = 'held' AND OLD.held = 1 AND OLD.state = 'waiting';
END;
CREATE TRIGGER jobs_changed AFTER UPDATE OF state, held ON jobs
  WHEN OLD.state <> NEW.state OR OLD.held <> NEW.held BEGIN
  UPDATE counts SET jobs = jobs - 1 WHERE queue = OLD.queue AND state = OLD.state;
  UPDATE counts SET jobs = jobs - 1
    WHERE queue = OLD.queue AND state = 'held' AND OLD.held = 1 AND OLD.state = 'waiting';
  INSERT INTO counts VALUES (NEW.queue, NEW.state, 1) ON CONFLICT DO UPDATE SET jobs = jobs + 1;
  INSERT INTO counts SELECT NEW.queue, 'held', 1 WHERE NEW.held = 1 AND NEW.state = 'waiting'
    ON CONFLICT DO UPDATE SET jobs = jobs + 1;
END;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  queue TEXT NOT NULL,
  job INTEGER,
  data TEXT
);

CREATE TABLE generations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  queue TEXT NOT NULL,
  began_at INTEGER NOT NULL,
  ended_at INTEGER,
  data TEXT NOT NULL
);
CREATE INDEX generations_open ON generations (queue) WHERE ended_at IS NULL;

CREATE TABLE answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX answers_at ON answers (at);

CREATE TABLE machines (
  queue TEXT NOT NULL REFERENCES queues (name) ON DELETE CASCADE,
  machine TEXT NOT NULL,
  is_draining INTEGER NOT NULL DEFAULT 0,
  capacity TEXT,
  measured_at INTEGER,
  PRIMARY KEY (queue, machine)
) WITHOUT ROWID;
`;

/** From an empty file to the newest schema: the first makes schema 1, the next makes 2 of it. A released one never changes. */
export const MIGRATIONS: readonly string[] = [SCHEMA_1];

const SECRETS_1 = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE environments (hash TEXT PRIMARY KEY, variables TEXT NOT NULL, kept_at INTEGER NOT NULL) WITHOUT ROWID;
`;

export const SECRET_MIGRATIONS: readonly string[] = [SECRETS_1];
