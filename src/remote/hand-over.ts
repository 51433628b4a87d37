// Gives jobs and slots to a machine, which from then on needs nobody. Jobs that are already there stay as they are.

import { Readable } from "node:stream";
import { kindOf, type Requirement } from "../model/job.js";
import type { SharedRoom, Slot } from "../model/machine.js";
import { quote } from "../transport/quote.js";
import type { Session } from "../transport/session.js";
import { ask } from "./ask.js";
import { type Place, prelude } from "./layout.js";
import { formatManifest, type Manifest } from "./manifest.js";
import { type PackEntry, pack } from "./pack.js";
import { runtimeFile } from "./runtime-files.js";
import type { Tree } from "./tree.js";

export interface HandOver {
  readonly place: Place;
  readonly settings: SpoolSettings;
  readonly requirement: Requirement;
  readonly slots: readonly SlotPlace[];
  /** Slots, settings and scripts are there already. */
  readonly isFurnished: boolean;
  readonly tree: Tree;
  readonly jobs: readonly HandedJob[];
  readonly manifest: Manifest;
  readonly signal: AbortSignal;
}

interface HandedJob {
  readonly key: string;
  readonly script: string;
  /** Where it is not that of the batch. */
  readonly timeoutSeconds?: number | undefined;
  /** "-": it needs what the batch says. */
  readonly kind?: string;
}

interface SlotPlace {
  readonly slot: Slot;
  readonly env: Readonly<Record<string, string>>;
}

interface SpoolSettings {
  readonly copiesUnchanged: boolean;
  readonly timeoutSeconds: number | null;
  /** Where jobs run that have no directory of their own; null: there are no such jobs. */
  readonly inPlace: string | null;
}

/** Resolves with the keys there was no room for. Some thousands at most: one `mv` puts them into place. */
export async function handOver(session: Session, order: HandOver): Promise<string[]> {
  const answers = await ask(session, {
    doing: "handing over",
    script: handOverScript(order),
    stdin: Readable.from(pack(spoolEntries(order)), { objectMode: false }),
    signal: order.signal,
  });
  return answers.filter((line) => line.startsWith("missing ")).map((line) => line.slice("missing ".length));
}

/** Slots start once everything is in place; a loop that is already there makes the second one leave. */
function handOverScript({ place, slots, tree, jobs, isFurnished }: HandOver): string {
  const indices = slots.map(({ slot }) => slot.index).join(" ");
  // Of several kinds, nobody here knows whose jobs these are.
  const most = slots.some(({ slot }) => slot.room !== undefined) ? slots.length : Math.max(1, jobs.length);
  return `${prelude(place)}
incoming=$spool/incoming.$$
# To tar an archive that breaks off between two files is no error.
is_whole() {
  [ -e "$incoming/whole" ] || { echo "only a part of it arrived" >&2; return 1; }
}
furnish() {
  set -- slots/*
  if [ -e "$1" ]; then
    for slot in ${indices}; do
      mkdir -p "slots/$slot" && mv "$incoming/slots/$slot/"* "slots/$slot/" || return 1
    done
  elif [ -d "$incoming/slots" ]; then
    mv "$incoming/slots/"* slots/ || return 1
  fi
  printf "login_umask=%s login_locale='%s'\\n" "$login_umask" "$login_locale" >>"$incoming/settings"
  mv "$incoming/lib.sh" "$incoming/slot.sh" "$incoming/kinds.sh" "$incoming/settings" .
}
# Under the lock under which a loop decides to end: one that is there finds the jobs by itself.
find_idle() {
  idle=
  for slot in ${indices}; do
    is_live "slots/$slot/loop" || idle="$idle $slot"
  done
}
hand_over() {
  for tool in setsid tar find xargs; do
    command -v "$tool" >/dev/null || { echo "there is no $tool over there" >&2; return 1; }
  done
  mkdir -p "$spool/jobs" "$spool/slots" "$incoming" && tar -xpof - -C "$incoming" <&3 && is_whole ||
    { rm -rf "$incoming"; return 1; }
  cd "$spool" || return 1
  [ -d "$base/batches" ] || mkdir -p "$base/batches" 2>/dev/null
  [ "$root" = "$base" ] || ln -s "$spool" "$base/batches/" 2>/dev/null
  ${isFurnished ? "" : "furnish || return 1"}
  . ./lib.sh
  cat "$incoming/manifest" >>manifest || return 1
  # Asked twice, since the link was lost before the answer, a job may have come and gone meanwhile.
  [ ! -e events ] || sed -n 's/^freed //p' events | while read -r key; do
    [ ! -d "$incoming/jobs/$key" ] || rm -rf "$incoming/jobs/$key"
  done
  # A job that is there already is not touched: mv refuses to put one directory over another.
  [ ! -d "$incoming/jobs" ] || mv "$incoming/jobs/"* jobs/ 2>/dev/null
  for job in "$incoming"/jobs/*; do
    [ ! -d "$job" ] || [ -d "jobs/\${job##*/}" ] || echo "missing \${job##*/}"
  done
  true >>events
  [ ! -e drain ] || { rm -f drain && echo opened >>events; }
  # Cleaning up elsewhere leaves the trees that are named here.
  echo ${quote(tree.hash)} >>trees
  rm -rf "$incoming"
  with_lock "$lock" find_idle
  left=${most}
  for slot in $idle; do
    [ "$left" -gt 0 ] || break
    left=$((left - 1))
    setsid sh slot.sh "$spool" "$slot" </dev/null >"slots/$slot/log" 2>&1 3<&- &
  done
  echo done
}
hand_over 3<&0 </dev/null
`;
}

function* spoolEntries(order: HandOver): Generator<PackEntry> {
  if (!order.isFurnished) yield* furniture(order);
  yield file("manifest", formatManifest(order.manifest));
  const treeLine = order.settings.inPlace === null ? formatTreeLine(order.tree) : IN_PLACE;
  for (const { key, script, timeoutSeconds, kind = "-" } of order.jobs) {
    yield file(`jobs/${key}/command`, `${treeLine}\n${script}`);
    if (timeoutSeconds !== undefined) yield file(`jobs/${key}/limit`, `${timeoutSeconds}\n`);
    if (kind !== "-") yield file(`jobs/${key}/own`, `${kind}\n`);
  }
  yield file("whole", "");
}

function* furniture(order: HandOver): Generator<PackEntry> {
  for (const name of ["lib.sh", "slot.sh", "kinds.sh"] as const) yield file(name, runtimeFile(name));
  yield file("settings", settingsText(order));
  for (const { slot, env } of order.slots) {
    yield file(`slots/${slot.index}/env`, slotEnvText(slot, env));
    const requirement = slot.requirement ?? order.requirement;
    yield file(`slots/${slot.index}/need`, needText(requirement, slot));
    if (slot.room !== undefined)
      yield file(`slots/${slot.index}/room`, roomText(slot.room, slot, requirement));
  }
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
    "",
  ].join("\n");
}

/** What stands for the tree of a job that runs in place. */
const IN_PLACE = "#tree @ 0 0";

/** From here on it pays to pass on to the next job what one has left unchanged. */
const LARGE_ENTRIES = 100;
const LARGE_BYTES = 4 << 20;

/** The tree a job begins with, whether it has directories and is large; "-": the job begins in an empty one. */
function formatTreeLine({ hash, entries, bytes }: Tree): string {
  const hasDirectories = entries.some(({ type }) => type === "Directory");
  const isLarge = entries.length > LARGE_ENTRIES || bytes > LARGE_BYTES;
  return `#tree ${hash === "" ? "-" : hash} ${hasDirectories ? 1 : 0} ${isLarge ? 1 : 0}`;
}

function slotEnvText(slot: Slot, env: Readonly<Record<string, string>>): string {
  const checked = slot.gpus.filter(
    ({ vendor, isMig, sharesHostMemory, memoryFreeMb }) =>
      vendor === "nvidia" && !isMig && !sharesHostMemory && memoryFreeMb !== null,
  );
  return [
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`),
    `export SSHOAL_SLOT=${slot.index}`,
    `check_cards=${checked.map((gpu) => gpu.index).join(",")}`,
    "",
  ].join("\n");
}

/** The line that probes and other slots read as this slot's claim. sh counts in whole MB. */
function needText({ memoryMb, cpus, gpu, reservesMachine }: Requirement, slot: Slot): string {
  const cards = slot.gpus.map(({ uuid }) => uuid).join(",") || "-";
  const ofCard = [Math.ceil(gpu?.memoryMb ?? 0), gpu?.utilization ?? 0, gpu?.isReserved ? 1 : 0];
  return `${[Math.ceil(memoryMb), cpus, ...ofCard, reservesMachine ? 1 : 0, cards].join(" ")}\n`;
}

/** What is not limited. */
const PLENTY = 1e9;

/** Read by kinds.sh: sh counts in whole numbers, so cores and shares are in thousandths. */
function roomText(room: SharedRoom, slot: Slot, { cpus, gpu }: Requirement): string {
  const cards = slot.gpus.map(({ uuid }, index) => {
    const { memoryMb, utilization } = room.cards[index] ?? { memoryMb: null, utilization: 0 };
    const [needMb, needShare] = [Math.ceil(gpu?.memoryMb ?? 0), thousandths(gpu?.utilization ?? 0)];
    return [uuid, needMb, needShare, Math.floor(memoryMb ?? PLENTY), thousandths(utilization)].join(" ");
  });
  const ofAll = [thousandths(cpus), thousandths(room.cpus), room.jobs ?? PLENTY].join(" ");
  return `${[kindOf(slot.requirement), ofAll, ...cards].join("\n")}\n`;
}

function thousandths(amount: number): number {
  return Math.round(amount * 1000);
}
