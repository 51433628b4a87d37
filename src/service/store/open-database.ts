// Opens the record of the service: queue.db with everything that users see, and secrets.db with the values of variables.

import { AnswerKeys } from "./answer-keys.js";
import { EventLog } from "./event-log.js";
import { GenerationRows } from "./generation-rows.js";
import { JobEdges } from "./job-edges.js";
import { JobHeads } from "./job-heads.js";
import { JobHistory } from "./job-history.js";
import { JobSearch } from "./job-search.js";
import { loadSqlite, type Sql, type SqlConstructor } from "./load-sqlite.js";
import { MachineRows } from "./machine-rows.js";
import { closeSql, openSql } from "./open-sql.js";
import { QueueRows } from "./queue-rows.js";
import { MIGRATIONS, SECRET_MIGRATIONS } from "./schema.js";
import { Secrets } from "./secrets.js";
import { makePrivateFile, makeStateDir } from "./state-dir.js";
import { StoredJobs } from "./stored-jobs.js";
import { Transactions } from "./transactions.js";

export interface ServiceDatabase {
  /** The path of queue.db. */
  readonly file: string;
  readonly jobs: StoredJobs;
  readonly heads: JobHeads;
  readonly edges: JobEdges;
  readonly search: JobSearch;
  readonly history: JobHistory;
  readonly queues: QueueRows;
  readonly events: EventLog;
  readonly generations: GenerationRows;
  readonly answers: AnswerKeys;
  readonly machines: MachineRows;
  readonly secrets: Secrets;
  /** Changes go through it. */
  readonly transactions: Transactions;
  /** Writes what waits to be written first. */
  close(): void;
}

export interface DatabaseOptions {
  /** How many events are kept; absent: 100,000. */
  readonly keptEvents?: number;
}

/** Throws UserError if the directory is not this user's alone, or not on a disk of this computer. */
export async function openDatabase(
  dir: string,
  { keptEvents }: DatabaseOptions = {},
): Promise<ServiceDatabase> {
  makeStateDir(dir);
  const Sqlite = loadSqlite();
  const file = makePrivateFile(dir, "queue.db");
  const sql = openSql(Sqlite, file, MIGRATIONS);
  const secret = openSecrets(Sqlite, dir, sql);
  const heads = new JobHeads(sql);
  const edges = new JobEdges(sql);
  const transactions = new Transactions(sql, () => heads.forget());
  return {
    file,
    jobs: new StoredJobs(sql, heads, edges),
    heads,
    edges,
    search: new JobSearch(sql),
    history: new JobHistory(sql),
    queues: new QueueRows(sql, heads),
    events: new EventLog(sql, keptEvents),
    generations: new GenerationRows(sql),
    answers: new AnswerKeys(sql),
    machines: new MachineRows(sql),
    secrets: new Secrets(secret),
    transactions,
    close: () => {
      transactions.flush();
      closeSql(sql);
      closeSql(secret);
    },
  };
}

function openSecrets(Sqlite: SqlConstructor, dir: string, record: Sql): Sql {
  try {
    return openSql(Sqlite, makePrivateFile(dir, "secrets.db"), SECRET_MIGRATIONS);
  } catch (error) {
    record.close();
    throw error;
  }
}
