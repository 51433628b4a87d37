// What the engine is asked for when a generation of a queue begins, or goes on.

import { rmSync } from "node:fs";
import path from "node:path";
import type { MachineSpec } from "../../model/machine.js";
import type { Queue } from "../../model/queue.js";
import { pooledNeed, usualNeed } from "../../plan/queue/queue-need.js";
import { noTree, scanTree } from "../../remote/tree/tree.js";
import { Results } from "../../run/home/results.js";
import { hasCards, type MachineMeans } from "../queue-machines.js";
import { frozenTreePath, openTreeStore } from "../trees/tree-store.js";
import type { GenerationParts } from "./generation.js";

/** What all queues of the service share. */
export interface House extends MachineMeans {
  /** The directory of the service. */
  readonly dir: string;
  readonly onBug: (error: unknown) => void;
}

export interface GenerationFacts {
  readonly queue: Queue;
  readonly number: number;
  readonly machines: readonly MachineSpec[];
}

/** How long a machine may be unreachable before its waiting jobs go to others. */
const REASSIGN_AFTER_MS = 10 * 60_000;

/** Its journal is the record of a batch, below house/. */
export function generationOrder(
  { queue, number, machines }: GenerationFacts,
  house: House,
): GenerationParts["order"] {
  const { surroundings, fleet, dir } = house;
  const { homeDir, username, computer } = surroundings;
  const requirement = pooledNeed(usualNeed(queue), queue, hasCards(queue.name, machines, house));
  return {
    stem: stemOf(queue.name, number),
    script: `queue ${queue.name}`,
    client: `${username}@${computer}: queue ${queue.name}`,
    settings: {
      requirement,
      timeoutSeconds: null,
      // Each job has its own directory.
      inPlace: homeDir,
      copyForward: [],
      copyBack: ["."],
      copiesUnchanged: false,
    },
    policy: { retries: 0, retriesFailures: false, reassignAfterMs: REASSIGN_AFTER_MS },
    env: {},
    trees: new Map([["-", Promise.resolve(noTree(homeDir))]]),
    readTree: ({ tree = "" }) =>
      scanTree(frozenTreePath(openTreeStore(path.join(dir, "trees")), tree), ["."], { isWhole: true }),
    machines,
    fleet,
    results: journals(queue.name, house),
  };
}

/** All of its jobs are in the record of the service by now. */
export function removeJournal(queue: string, number: number, house: House): void {
  rmSync(path.join(journals(queue, house).privateDir, `${stemOf(queue, number)}.jsonl`), { force: true });
}

function journals(queue: string, { dir }: House): Results {
  return new Results(path.join(dir, "house", queue));
}

function stemOf(queue: string, number: number): string {
  return `${queue}-${number}`;
}
