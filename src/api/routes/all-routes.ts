// Every route of the API, in the order of docs/api.md.

import type { Route } from "../route.js";
import { DISK_ROUTES } from "./disk-routes.js";
import { JOB_ROUTES } from "./job-routes.js";
import { JOIN_ROUTES } from "./join-routes.js";
import { QUEUE_ROUTES } from "./queue-routes.js";
import { SERVICE_ROUTES } from "./service-routes.js";

export const ROUTES: readonly Route[] = [
  ...SERVICE_ROUTES,
  ...QUEUE_ROUTES,
  ...JOIN_ROUTES,
  ...JOB_ROUTES,
  ...DISK_ROUTES,
];
