// What the API knows of a followed batch, besides its events.

import type { BatchOrder } from "../../run/order.js";
import type { Connector } from "../connector.js";
import type { FollowedRun } from "../follow/followed-run.js";
import type { Steering } from "../follow/steering.js";
import type { RecentNews } from "../follower/recent-news.js";

export interface FollowedBatch {
  readonly run: FollowedRun;
  /** Of the run in progress. */
  readonly order: () => Pick<BatchOrder, "stem" | "settings" | "policy" | "machines" | "results">;
  readonly steering: Steering;
  readonly recent: RecentNews;
  /** A separate session on a connection of the run. */
  readonly connect: Connector;
  readonly pid: number;
}
