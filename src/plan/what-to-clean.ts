// Decides which things left on a machine are no longer needed. When in doubt, they stay.

import type { LeftBatch, LeftOver, LeftTree } from "../model/left-over.js";

export type Verdict =
  | { readonly kind: "remove" }
  | { readonly kind: "keep"; readonly reason: string }
  /** It was named by the user, but is in use. */
  | { readonly kind: "refuse"; readonly reason: string };

export interface Wishes {
  /** Names of batches to remove, with their uncollected results. Empty: remove everything that holds no results. */
  readonly named: ReadonlySet<string>;
  /** Which process on this computer follows a batch: "followed by process 12". */
  readonly followed: ReadonlyMap<string, string>;
}

export interface CleaningPlan {
  readonly batches: readonly { readonly batch: LeftBatch; readonly verdict: Verdict }[];
  readonly trees: readonly { readonly tree: LeftTree; readonly verdict: Verdict }[];
}

/** Until the first job that names a staged tree arrives, only the tree's age shows that it is needed. */
const TREE_REST_SECONDS = 600;
const NAMED_JOBS = 5;
const HALF_TREE_REST_SECONDS = 86_400;

export function decideCleaning({ batches, trees }: LeftOver, wishes: Wishes): CleaningPlan {
  const judged = batches.map((batch) => ({ batch, verdict: judgeBatch(batch, wishes) }));
  const goes = new Set(
    judged.flatMap(({ batch, verdict }) => (verdict.kind === "remove" ? [batch.name] : [])),
  );
  return { batches: judged, trees: trees.map((tree) => ({ tree, verdict: judgeTree(tree, goes) })) };
}

/** How long a tree must be unused before it may be removed. */
export function restSeconds({ name }: Pick<LeftTree, "name">): number {
  return name.startsWith("incoming.") ? HALF_TREE_REST_SECONDS : TREE_REST_SECONDS;
}

function judgeBatch(batch: LeftBatch, { named, followed }: Wishes): Verdict {
  const isNamed = named.has(batch.name);
  const holds = describeJobs(batch);
  const uses = [followed.get(batch.name) ?? (batch.isAlive ? "in use" : ""), ...holds].filter(Boolean);
  if (batch.isAlive || followed.has(batch.name))
    return { kind: isNamed ? "refuse" : "keep", reason: uses.join(", ") };
  if (isNamed) return { kind: "remove" };
  if (holds.length > 0) return { kind: "keep", reason: holds.join(", ") };
  return named.size === 0 ? { kind: "remove" } : { kind: "keep", reason: "not asked for" };
}

function describeJobs({ running, waiting, toCollect, kept }: LeftBatch): string[] {
  const parts: [number, string][] = [
    [running, "running"],
    [waiting, "waiting"],
    [toCollect, "to collect"],
  ];
  const counts = parts.filter(([amount]) => amount > 0).map(([amount, what]) => `${amount} ${what}`);
  return [...counts, ...describeKept(kept)];
}

/** "directories kept until their jobs succeed: train.sh.3, train.sh.7". */
function describeKept(kept: LeftBatch["kept"]): string[] {
  if (kept.length === 0) return [];
  const [shown, more] = [kept.slice(0, NAMED_JOBS).join(", "), kept.length - NAMED_JOBS];
  const what =
    kept.length === 1
      ? "a directory is kept until its job succeeds"
      : "directories are kept until their jobs succeed";
  return [`${what}: ${shown}${more > 0 ? ` and ${more} more` : ""}`];
}

function judgeTree(tree: LeftTree, goes: ReadonlySet<string>): Verdict {
  const stays = tree.usedBy.filter((batch) => batch === null || !goes.has(batch));
  if (stays.length > 0) {
    const names = stays.map((batch) => batch ?? "a batch of another machine");
    return { kind: "keep", reason: `used by ${names.join(", ")}` };
  }
  if (tree.ageSeconds === null) return { kind: "keep", reason: "its age is unknown" };
  return tree.ageSeconds >= restSeconds(tree)
    ? { kind: "remove" }
    : { kind: "keep", reason: "a new batch may need it" };
}
