// The tool `probe`: what is free on machines.

import { DIRECTORY, directoryOf } from "../call/host.js";
import type { Row } from "../call/own-command.js";
import { tool } from "../call/tool.js";
import { askRows } from "./ask-rows.js";
import { limitField, OFFSET } from "./job-fields.js";
import { NEED, needWords } from "./need-fields.js";
import { MACHINES } from "./run-tool.js";

const USUAL_ROWS = 20;

export const PROBE = tool({
  name: "probe",
  about:
    "Measure what is free on machines now: cores, memory, GPUs and their processes; and how many jobs with these needs would fit at once (slotCount). One row per machine. Starts nothing.",
  does: "looks",
  fields: {
    directory: DIRECTORY,
    machines: MACHINES,
    ...NEED,
    offset: OFFSET,
    limit: limitField(USUAL_ROWS),
  },
  call: ({ directory, machines, offset = 0, limit = USUAL_ROWS, ...need }, { host, signal }) =>
    askRows({
      host,
      directory: directoryOf(host, directory),
      words: [
        "probe",
        "--json",
        ...needWords(need),
        ...(machines === undefined ? [] : ["--machines", ...machines]),
      ],
      as: "machines",
      part: { offset, limit },
      shorten: withoutSlots,
      signal,
    }),
});

/** A machine can have a thousand slots, which differ in little. */
function withoutSlots({ slots, about: _, ...row }: Row): Row {
  return Array.isArray(slots) ? { ...row, slotCount: slots.length } : row;
}
