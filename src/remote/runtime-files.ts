// Loads the POSIX sh and awk, and a little bash, that runs on machines: files beside this one, which the build joins and puts
// next to the bundle.

import { joinScript } from "./join-script.js";

/** The scripts that the processes of a spool run. */
export const SPOOL_SCRIPTS = [
  "own.sh",
  "lib.sh",
  "slot.sh",
  "fast.sh",
  "fork.bash",
  "begin.sh",
  "cards.sh",
  "cards.awk",
  "names.awk",
  "room.awk",
  "use.awk",
  "sampler.sh",
] as const;

export type RuntimeFile =
  | (typeof SPOOL_SCRIPTS)[number]
  | "logs.sh"
  | "follow.sh"
  | "tails.sh"
  | "pulse.sh"
  | "control.sh"
  | "probe.sh"
  | "stage.sh"
  | "put-aside.sh"
  | "hand-over.sh"
  | "clean.sh"
  | "left-over.sh"
  | "logout.sh"
  | "doctor.sh"
  | "find-service.sh"
  | "bridge.sh";

const known = new Map<RuntimeFile, string>();

/** Each is read once: every machine gets most of them. */
export function runtimeFile(name: RuntimeFile): string {
  const text = known.get(name) ?? joinScript(new URL(`./runtime/${name}`, import.meta.url));
  known.set(name, text);
  return text;
}
