// Gives jobs and slots to a machine, which then needs no client. Jobs that it already has are not changed.

import { Readable } from "node:stream";
import { SPOOL_FORMAT } from "../../model/machine.js";
import type { OutputLimit } from "../../model/output-limit.js";
import { quote } from "../../transport/quote.js";
import type { Session } from "../../transport/session.js";
import { tryToAsk } from "../engine/ask.js";
import { NOTE_LOGIN, type Place, prelude } from "../engine/layout.js";
import { RemoteError } from "../engine/remote-error.js";
import { wordsAfter } from "../engine/words-after.js";
import { runtimeFile, SPOOL_SCRIPTS } from "../runtime-files.js";
import { type PackEntry, pack } from "../tree/pack.js";
import type { Tree } from "../tree/tree.js";
import { formatManifest, type Manifest } from "./manifest.js";

export interface HandOver {
  readonly place: Place;
  readonly settings: SpoolSettings;
  /** What the allocator on the machine knows of it, as text. */
  readonly room: string;
  /** What the jobs need, as text, by kind; with that of the batch, "-". */
  readonly needs: ReadonlyMap<string, string>;
  /** How many slots begin. The machine adds more while there is room. */
  readonly slots: number;
  /** Slots, settings and scripts are already on the machine. */
  readonly isFurnished: boolean;
  /** The tree that these jobs start from; null: they run in place. */
  readonly tree: Tree | null;
  /** The entries of that tree, if they travel with the jobs. */
  readonly carried?: Buffer | null | undefined;
  readonly jobs: readonly HandedJob[];
  readonly manifest: Manifest;
  readonly signal: AbortSignal;
}

/** The second line of a command, after the line that names its tree. */
export const BEGIN = `. "\${SSHOAL_SLOT_DIR%/slots/*}/begin.sh"`;

export interface HandedJob {
  readonly key: string;
  readonly script: string;
  /** If false, a fork of the slot's bash runs it, if the slot has one. */
  readonly needsOwnShell: boolean;
  /** Set if it differs from that of the batch. */
  readonly timeoutSeconds?: number | undefined;
  /** Absent: all of its output is kept. */
  readonly maxOutput?: OutputLimit | undefined;
  /** Absent: its memory has no limit. */
  readonly memoryLimitMb?: number | undefined;
  /** "-": it needs what the batch says. */
  readonly kind?: string;
  /** What is copied over the tree, in order, in a directory that stays; absent: the job uses the slot's directory. */
  readonly layers?: readonly Layer[] | undefined;
  /** Names in braces that the slot replaces by what the job got. Such a job needs its own shell. Absent: none. */
  readonly names?: readonly string[] | undefined;
}

/** The directory of an earlier attempt on the machine, by its key; or a staged tree, by its hash. */
export interface Layer {
  readonly kind: "job" | "tree";
  readonly name: string;
}

interface SpoolSettings {
  readonly copiesUnchanged: boolean;
  readonly timeoutSeconds: number | null;
  /** The directory for jobs without a directory of their own; null: there are no such jobs. */
  readonly inPlace: string | null;
  /** Slots start in a scope of the user's own systemd, because a logout would end them otherwise. */
  readonly usesScopes?: boolean;
  readonly hasPlainSlots?: boolean;
}

interface HandedOver {
  /** The machine had the tree that was carried. */
  readonly hadTree: boolean;
  // Keys that were not accepted:
  /** There was no disk space for them. */
  readonly missing: readonly string[];
  /** They had been taken back before they arrived. */
  readonly taken: readonly string[];
}

/** The machine guarantees that no job of this hand-over is or will be on it. This does not concern earlier hand-overs. */
export class NothingArrived extends RemoteError {}

/**
 * At most some thousands of jobs, because one `mv` puts them into place. Rejects with NothingArrived, or with another
 * error after which any of the jobs may have arrived and may run.
 */
export async function handOver(session: Session, order: HandOver): Promise<HandedOver> {
  const { answers, failure } = await tryToAsk(session, {
    doing: "handing over",
    script: handOverScript(order),
    stdin: Readable.from(archiveOf(order), { objectMode: false }),
    signal: order.signal,
  });
  if (failure !== null)
    throw answers.at(-1) === "refused" ? new NothingArrived(failure.message, failure.hint) : failure;
  return {
    hadTree: answers.includes("had"),
    missing: wordsAfter("missing", answers),
    taken: wordsAfter("taken", answers),
  };
}

async function* archiveOf(order: HandOver): AsyncGenerator<Buffer> {
  if (order.carried) yield order.carried;
  yield* pack(spoolEntries(order));
}

function handOverScript({ place, slots, tree, carried, jobs, isFurnished }: HandOver): string {
  // An unsafe place is a refusal, too: nothing was put into it.
  return `${NOTE_LOGIN}trap 'echo refused' EXIT
${prelude(place)}trap - EXIT
slots='${[...Array(slots).keys()].join(" ")}'
most=${Math.max(1, jobs.length)}
tree=${quote(tree?.hash ?? "")}
carries=${carried ? "yes" : ""}
copies='${copiesIn(jobs).join(" ")}'
is_furnished=${isFurnished ? "yes" : ""}
scripts='${SPOOL_SCRIPTS.join(" ")}'
spool_format=${SPOOL_FORMAT}
load_lib() {
${runtimeFile("lib.sh")}
}
${runtimeFile("logs.sh")}
${runtimeFile("hand-over.sh")}
hand_over 3<&0 </dev/null
`;
}

function* spoolEntries(order: HandOver): Generator<PackEntry> {
  if (!order.isFurnished) yield* furniture(order);
  for (const [kind, text] of order.needs) yield file(`needs/${kind}`, text);
  yield file("manifest", formatManifest(order.manifest));
  const treeLine = order.tree === null ? IN_PLACE : formatTreeLine(order.tree);
  for (const job of order.jobs) {
    const { key, script, needsOwnShell, timeoutSeconds, maxOutput, memoryLimitMb } = job;
    const { kind = "-", layers, names = [] } = job;
    yield file(`jobs/${key}/command`, `${treeLine} ${needsOwnShell ? 1 : 0}\n${BEGIN}\n${script}`);
    if (timeoutSeconds !== undefined) yield file(`jobs/${key}/limit`, `${timeoutSeconds}\n`);
    if (maxOutput !== undefined)
      yield file(`jobs/${key}/max-output`, `${maxOutput.bytes} ${maxOutput.text}\n`);
    if (names.length > 0) yield file(`jobs/${key}/names`, `${names.join(" ")}\n`);
    if (memoryLimitMb !== undefined) yield file(`jobs/${key}/memory-limit`, `${memoryLimitMb}\n`);
    if (kind !== "-") yield file(`jobs/${key}/own`, `${kind}\n`);
    if (layers !== undefined) yield file(`jobs/${key}/keep`, layers.map(formatLayer).join(""));
  }
  yield file("whole", "");
}

function* furniture(order: HandOver): Generator<PackEntry> {
  for (const name of SPOOL_SCRIPTS) yield file(name, runtimeFile(name));
  yield file("settings", settingsText(order));
  yield file("format", `${SPOOL_FORMAT}\n`);
  yield file("room", order.room);
}

function formatLayer({ kind, name }: Layer): string {
  return `${kind} ${name}\n`;
}

function copiesIn(jobs: readonly HandedJob[]): string[] {
  return jobs.flatMap(({ layers = [] }) =>
    layers.flatMap(({ kind, name }) => (kind === "tree" ? [name] : [])),
  );
}

function file(path: string, text: string): PackEntry {
  const content = Buffer.from(text);
  return { type: "File", path, mode: 0o600, size: content.length, content };
}

function settingsText({ place, settings }: HandOver): string {
  return [
    `batch=${quote(place.batch)}`,
    `copy_unchanged=${settings.copiesUnchanged ? 1 : 0}`,
    `limit=${settings.timeoutSeconds ?? 0}`,
    `in_place=${quote(settings.inPlace ?? "")}`,
    `in_scope=${settings.usesScopes ? "yes" : ""}`,
    `plain_slots=${settings.hasPlainSlots ? "yes" : ""}`,
    "",
  ].join("\n");
}

/** Stands for the tree of a job that runs in place. */
const IN_PLACE = "#tree @ 0 0";

/** From this size on, the next job reuses what a job left unchanged. */
const LARGE_ENTRIES = 100;
const LARGE_BYTES = 4 << 20;

/**
 * The tree a job starts from, whether it has directories, and whether it is large; "-": the job starts in an empty
 * directory.
 */
function formatTreeLine({ hash, entries, bytes }: Tree): string {
  const hasDirectories = entries.some(({ type }) => type === "Directory");
  const isLarge = entries.length > LARGE_ENTRIES || bytes > LARGE_BYTES;
  return `#tree ${hash === "" ? "-" : hash} ${hasDirectories ? 1 : 0} ${isLarge ? 1 : 0}`;
}
