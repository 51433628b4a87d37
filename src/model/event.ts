// All events of a run. They are recorded, folded into the state and shown to people. `at` is the local time in
// milliseconds at which the client learned of the event. Durations are measured by the machine's clock.

import type { BatchEvent } from "./batch-event.js";
import type { JobEvent } from "./job-event.js";
import type { MachineEvent } from "./machine-event.js";

export type RunEvent = { readonly at: number } & (BatchEvent | JobEvent | MachineEvent);

export type JobStarted = Extract<RunEvent, { kind: "job-started" }>;

/** An event before it has a time. */
export type News = RunEvent extends infer Event ? (Event extends unknown ? Omit<Event, "at"> : never) : never;
