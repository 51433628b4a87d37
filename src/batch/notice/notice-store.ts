// The command that is run when a batch ends, kept until then for whichever client learns of the end. It is in the user's state
// directory, not beside the record: it may hold a secret, and a directory that came from elsewhere must not bring commands along.

import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import type { Notice } from "../../model/notice.js";
import { Results } from "../../run/home/results.js";
import { removeStateFile, type StatePlace, stateFileName, stateFilesDir } from "../state-files.js";

export interface StoredNotice extends Notice {
  /** When it was asked for first: failures from before do not count. */
  readonly since: number;
}

interface Entry extends StoredNotice {
  readonly v: number;
  readonly directory: string;
  readonly stem: string;
}

const FORMAT = 1;
const ENDING = ".json";
const CLAIMED = ".claimed";
/** What a client that was killed had claimed is removed after this time. */
const CLAIM_MS = 60_000;

export class NoticeStore {
  /** Null: nothing can be kept. */
  readonly #dir: string | null;
  readonly #batch: { readonly directory: string; readonly stem: string };
  readonly #file: string;

  constructor(place: StatePlace, directory: string, stem: string) {
    this.#dir = stateFilesDir(place, "notices");
    this.#batch = { directory, stem };
    this.#file = path.join(this.#dir ?? "", stateFileName(`${directory}\0${stem}`) + ENDING);
  }

  /** False: it cannot be kept. */
  save(notice: Notice, now: number): boolean {
    if (this.#dir === null) return false;
    const since = this.load()?.since ?? now;
    const entry: Entry = { v: FORMAT, ...this.#batch, ...notice, since };
    try {
      mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
      removeOrphans(this.#dir);
      writeFileSync(`${this.#file}.new`, JSON.stringify(entry), { mode: 0o600 });
      renameSync(`${this.#file}.new`, this.#file);
      return true;
    } catch {
      return false;
    }
  }

  /** Null: there is none. */
  load(): StoredNotice | null {
    return this.#dir === null ? null : readEntry(this.#file);
  }

  /** Takes it away, so that no other client runs it, whatever becomes of this one. Null: another client has it, or there is none. */
  claim(): StoredNotice | null {
    if (this.#dir === null) return null;
    const mine = `${this.#file}.${randomBytes(4).toString("hex")}${CLAIMED}`;
    try {
      renameSync(this.#file, mine);
    } catch {
      return null;
    }
    const notice = readEntry(mine);
    removeStateFile(mine);
    return notice;
  }

  /** On a disk that takes no changes it stays; its command can then not be claimed, and is not run either. */
  drop(): void {
    if (this.#dir !== null) removeStateFile(this.#file);
  }

  /** What a command that failed printed. Returns where; null: it cannot be kept. */
  saveOutput(output: Buffer): string | null {
    if (this.#dir === null) return null;
    const file = path.join(this.#dir, "last-output");
    try {
      mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
      writeFileSync(file, output, { mode: 0o600 });
      return file;
    } catch {
      return null;
    }
  }
}

/** Null: there is none, or it is not what we wrote. */
function readEntry(file: string): Entry | null {
  try {
    const entry = JSON.parse(readFileSync(file, "utf8")) as Partial<Entry> | null;
    const { v, directory, stem, command, on, since } = entry ?? {};
    const isWhole =
      v === FORMAT &&
      typeof directory === "string" &&
      typeof stem === "string" &&
      typeof command === "string" &&
      (on === "end" || on === "failure") &&
      typeof since === "number";
    return isWhole ? { v, directory, stem, command, on, since } : null;
  } catch {
    return null;
  }
}

/** Secrets are not kept for batches whose records are gone, nor for clients that are. */
function removeOrphans(dir: string): void {
  for (const name of readdirSync(dir)) {
    const file = path.join(dir, name);
    const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.ctimeMs ?? 0);
    const isLeft = !name.endsWith(ENDING) && name !== "last-output" && age > CLAIM_MS;
    if (isLeft || (name.endsWith(ENDING) && isOrphan(file))) removeStateFile(file);
  }
}

function isOrphan(file: string): boolean {
  const entry = readEntry(file);
  if (entry === null) return true;
  const { privateDir } = new Results(entry.directory);
  return !existsSync(path.join(privateDir, `${entry.stem}.jsonl`));
}
