// What only the client that follows a batch knows: the last event about each thing, as lost connections and waiting slots.

import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../../errors.js";
import type { RunEvent } from "../../model/event.js";
import type { Results } from "../../run/home/results.js";
import { reachFollower } from "./ask-follower.js";

/** A follower that is busy or stopped is not waited for. */
const FOLLOWER_MS = 1000;

/** Empty if no client answers. */
export async function askRecent(results: Results, stem: string): Promise<readonly RunEvent[]> {
  const follower = await reachFollower(results, stem, AbortSignal.timeout(FOLLOWER_MS)).catch(orNone);
  if (follower === null) return [];
  try {
    const answer = await Promise.race([
      follower.watch().catch(orNone),
      sleep(FOLLOWER_MS, null, { ref: false }),
    ]);
    return answer?.recent ?? [];
  } finally {
    follower.close();
  }
}

function orNone(error: unknown): null {
  if (error instanceof UserError) return null;
  throw error;
}
