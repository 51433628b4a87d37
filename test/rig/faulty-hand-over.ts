// Stand-in programs on a machine's PATH that make one step of one hand-over fail. The program fails, or kills the shell
// that called it before or after its work, or hangs until it is released.

import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

export type Fault = "fails" | "kills before" | "kills after" | "hangs";

export interface FaultyHandOver {
  /** Makes the step with this number fail, in the hand-over with this number, both counted from 1. */
  arm(turn: number, step: number, fault: Fault): Promise<void>;
  /** The programs that a hand-over has called so far, in order. */
  steps(turn: number): string[];
  isHanging(): boolean;
  letGo(): Promise<void>;
  /** From now on nothing fails, and counting starts again. */
  reset(): Promise<void>;
}

/** Slots are started in the background, so their start is not a separate step. */
const TOOLS = ["mkdir", "tar", "mv", "rm", "ln", "cat", "sed", "flock"];

/** A shell that hands over is recognised by the directory that it makes first. */
const standIn = (state: string, real: string) => `#!/bin/sh
tool=\${0##*/} turn=0 mine=
case "$tool $*" in "mkdir "*/batches/*/incoming.*) echo "$PPID" >>${state}/shells ;; esac
[ ! -e ${state}/shells ] || while read -r shell; do
  turn=$((turn + 1))
  [ "$shell" != "$PPID" ] || mine=$turn
done <${state}/shells
[ -n "$mine" ] || exec ${real} "$@"
echo "$tool" >>"${state}/steps-$mine"
step=0
while read -r _; do step=$((step + 1)); done <"${state}/steps-$mine"
read -r bad_turn bad_step fault <${state}/fault
[ "$bad_turn $bad_step" = "$mine $step" ] || exec ${real} "$@"
case $fault in
  fails) exit 1 ;;
  "kills before") kill -KILL "$PPID"; exit 1 ;;
  "kills after") ${real} "$@"; kill -KILL "$PPID"; exit 1 ;;
  hangs)
    true >${state}/hanging
    until [ -e ${state}/go ]; do /bin/sleep 0.02; done
    exec ${real} "$@" ;;
esac
`;

/** `dir`: where the stand-ins keep their state; `binDir` is first on the machine's PATH. */
export async function installFaultyHandOver({
  dir,
  binDir,
}: {
  readonly dir: string;
  readonly binDir: string;
}): Promise<FaultyHandOver> {
  const state = join(dir, "hand-over");
  const reset = async () => {
    await rm(state, { recursive: true, force: true });
    await mkdir(state);
    await writeFile(join(state, "fault"), "0 0 none\n");
  };
  await reset();
  for (const tool of TOOLS) {
    const real = ["/usr/bin", "/bin"].map((place) => join(place, tool)).find((path) => existsSync(path));
    if (real === undefined) throw new Error(`${tool} is missing, and these tests need it`);
    await writeFile(join(binDir, tool), standIn(state, real));
    await chmod(join(binDir, tool), 0o755);
  }
  return {
    reset,
    arm: (turn, step, fault) => writeFile(join(state, "fault"), `${turn} ${step} ${fault}\n`),
    steps(turn) {
      const path = join(state, `steps-${turn}`);
      return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
    },
    isHanging: () => existsSync(join(state, "hanging")),
    letGo: () => writeFile(join(state, "go"), ""),
  };
}
