// Opens a reporter for a batch, with the local facts that it needs besides the events.

import { stemsHere } from "../../batch/find/batches-here.js";
import { loadLastWords } from "../../batch/output/last-words.js";
import type { RunEvent } from "../../model/event.js";
import type { Requirement } from "../../model/job.js";
import type { Gpu } from "../../model/machine.js";
import { variablesFor } from "../../plan/slots/devices.js";
import type { Known, Reporter } from "../../report/reporter.js";
import type { Results } from "../../run/home/results.js";
import { nextCommands } from "./next-commands.js";
import { createReporter, type ReporterChoice } from "./reporters.js";

export interface Shown {
  readonly machines: readonly string[];
  /** For jobs without their own. */
  readonly requirement: Requirement;
  readonly results: Results;
}

export async function openReporter(
  options: ReporterChoice,
  { machines, requirement, results }: Shown,
): Promise<Reporter> {
  const makers = new Map<string, Gpu["vendor"]>();
  const reporter = await createReporter(options, {
    machines,
    devicesOf: ({ machine, gpus }) => {
      if (gpus === undefined || requirement.reservesMachine) return {};
      return variablesFor(makers.get(machine) ?? "nvidia", gpus);
    },
    lastWordsOf: ({ name }) => loadLastWords(results, name),
    nextCommands: (closing) => nextCommands(closing, stemsHere(results).length < 2),
  });
  const show = (event: RunEvent, known: Known) => {
    if (event.kind === "machine-ready") {
      const maker = event.slots.flatMap(({ gpus }) => gpus)[0]?.vendor;
      if (maker !== undefined) makers.set(event.machine, maker);
    }
    reporter.show(event, known);
  };
  return {
    show,
    suspend: () => reporter.suspend(),
    resume: () => reporter.resume(),
    close: (isLeft) => reporter.close(isLeft),
    ...(reporter.live && { live: reporter.live }),
  };
}
