// Lists and removes what batches left on a machine. Names come from the machine: only those of the right form count.

import type { LeftBatch, LeftOver, LeftTree } from "../../model/left-over.js";
import { quote } from "../../transport/quote.js";
import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, rootPrelude } from "../engine/layout.js";
import { runtimeFile } from "../runtime-files.js";

export async function findLeftOver(
  session: Session,
  scratch: Place["scratch"],
  signal: AbortSignal,
): Promise<LeftOver> {
  const script = leftOverScript(scratch, ["tell_all"]);
  return parseLeftOver(await ask(session, { doing: "looking for leftovers", script, signal }));
}

export interface Removal {
  readonly scratch: Place["scratch"];
  /** `isForced`: remove it although it has results to collect. A live batch is never removed. */
  readonly batches: readonly { readonly name: string; readonly isForced: boolean }[];
  readonly trees: readonly { readonly name: string; readonly minAgeSeconds: number }[];
}

/** "kept": it is in use after all. `stuckAt`: the path of the part that could not be deleted. */
export type Removed = "removed" | "kept" | { readonly stuckAt: string };

/** The result for each, by `batch <name>` and `tree <name>`; none for a thing that no longer existed. */
export async function removeLeftOver(
  session: Session,
  { scratch, batches, trees }: Removal,
  signal: AbortSignal,
): Promise<Map<string, Removed>> {
  // Batches first, because their trees are unused afterwards.
  const calls = [
    ...batches.map(({ name, isForced }) => `remove_batch ${quote(checkBatch(name))} ${isForced ? 1 : 0}`),
    ...trees.map(({ name, minAgeSeconds }) => `remove_tree ${quote(checkTree(name))} ${minAgeSeconds}`),
  ];
  const script = leftOverScript(scratch, ["find_roots", "each_root discard_old", ...calls]);
  const answers = await ask(session, { doing: "cleaning up", script, signal });
  return parseRemoved(answers);
}

/** Without a root nothing was ever run, and lib.sh would have no place for its lock. */
function leftOverScript(scratch: Place["scratch"], calls: readonly string[]): string {
  return `${rootPrelude(scratch)}check_own || exit 1
${runtimeFile("lib.sh")}
${runtimeFile("left-over.sh")}
work() {
  [ -d "$base" ] || return 0
  ${calls.join("\n  ")}
}
work </dev/null
echo done
`;
}

/** A script's name and eight random digits. */
const BATCH_NAME = /^[\p{L}\p{M}\p{N}._+=@,%-]{1,100}-[0-9a-f]{8}$/u;
const TREE_NAME = /^(?:[0-9a-f]{40}|incoming\.\d{1,10})$/;

function isBatchName(name: string): boolean {
  return BATCH_NAME.test(name);
}

function checkBatch(name: string): string {
  if (!isBatchName(name)) throw new Error(`no batch is called ${JSON.stringify(name)}`);
  return name;
}

function checkTree(name: string): string {
  if (!TREE_NAME.test(name)) throw new Error(`no tree is called ${JSON.stringify(name)}`);
  return name;
}

export function parseLeftOver(lines: readonly string[]): LeftOver {
  const batches = new Map<string, LeftBatch>();
  const trees = new Map<string, LeftTree>();
  const users = new Map<string, Set<string | null>>();
  const kept = new Map<string, Set<string>>();
  for (const line of lines) {
    const batch = parseBatch(line);
    const tree = parseTree(line);
    const [, keeper, job = ""] = /^keeps (\S+) (.+)$/.exec(line) ?? [];
    const [, hash, user = ""] = /^uses (\S+) (.+)$/.exec(line) ?? [];
    // The same name below two roots is shown as one, because removing a batch applies to both.
    if (batch !== null) batches.set(batch.name, addBatches(batch, batches.get(batch.name)));
    if (tree !== null)
      trees.set(tree.name, { ...tree, bytes: tree.bytes + (trees.get(tree.name)?.bytes ?? 0) });
    if (keeper !== undefined) kept.set(keeper, (kept.get(keeper) ?? new Set()).add(job));
    if (hash !== undefined)
      users.set(hash, (users.get(hash) ?? new Set()).add(isBatchName(user) ? user : null));
  }
  return {
    batches: [...batches.values()].map((batch) => ({ ...batch, kept: [...(kept.get(batch.name) ?? [])] })),
    trees: [...trees.values()].map((tree) => ({ ...tree, usedBy: [...(users.get(tree.name) ?? [])] })),
  };
}

function parseBatch(line: string): LeftBatch | null {
  const match = /^batch (\d{1,15}) ([01]) (\d{1,9}) (\d{1,9}) (\d{1,9}) (.+)$/.exec(line);
  if (!match) return null;
  const [, kb, alive, ended, waiting, running, name = ""] = match;
  if (!isBatchName(name)) return null;
  const jobs = { running: Number(running), waiting: Number(waiting), toCollect: Number(ended) };
  return { name, bytes: Number(kb) * 1024, isAlive: alive === "1", ...jobs, kept: [] };
}

function addBatches(one: LeftBatch, other: LeftBatch | undefined): LeftBatch {
  if (other === undefined) return one;
  return {
    name: one.name,
    bytes: one.bytes + other.bytes,
    isAlive: one.isAlive || other.isAlive,
    running: one.running + other.running,
    waiting: one.waiting + other.waiting,
    toCollect: one.toCollect + other.toCollect,
    kept: [],
  };
}

function parseTree(line: string): LeftTree | null {
  const match = /^tree (\d{1,15}) (-|-?\d{1,12}) (\S+)$/.exec(line);
  if (!match) return null;
  const [, kb, age, name = ""] = match;
  if (!TREE_NAME.test(name)) return null;
  // The clocks of a file server and of a machine can differ.
  const ageSeconds = age === "-" ? null : Math.max(0, Number(age));
  return { name, bytes: Number(kb) * 1024, ageSeconds, usedBy: [] };
}

function parseRemoved(answers: readonly string[]): Map<string, Removed> {
  const removed = new Map<string, Removed>();
  const paths = new Map(
    answers.flatMap((line) => {
      const [, thing, path = ""] = /^left ((?:batch|tree) \S+) (.+)$/.exec(line) ?? [];
      return thing === undefined ? [] : [[thing, path] as const];
    }),
  );
  for (const line of answers) {
    const [, what, thing = ""] = /^(removed|kept|stuck) ((?:batch|tree) .+)$/.exec(line) ?? [];
    // If a name is below two roots and one of them stays, it counts as not removed.
    if (what === undefined || (removed.get(thing) ?? "removed") !== "removed") continue;
    removed.set(thing, what === "stuck" ? { stuckAt: paths.get(thing) ?? "" } : (what as "removed" | "kept"));
  }
  return removed;
}
