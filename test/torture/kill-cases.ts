// Every way to kill the processes of a slot while it runs a job, and how that job may then be reported. Pure.

export type Target = "loop" | "keeper" | "forker" | "job";
export type KillSignal = "SIGTERM" | "SIGHUP" | "SIGINT" | "SIGKILL";

export interface KillCase {
  /** The shell that runs the loop; busybox has no bash, so there is no forker. */
  readonly shell: "dash" | "bash" | "busybox";
  /** The job is run by a fork of the slot's bash, or by its own shell. */
  readonly runner: "fork" | "own shell";
  readonly signal: KillSignal;
  /** In the order in which they are killed. */
  readonly targets: readonly Target[];
  /** True if all processes of the job are signalled, false if only its shell is. */
  readonly hitsGroup: boolean;
  /** True if the machine is rebooted before the next loop begins. */
  readonly reboots: boolean;
}

/** The code that the job ends with once it is allowed to. */
export const OWN_CODE = 4;

const NUMBERS: Readonly<Record<KillSignal, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 };

export function allKillCases(): KillCase[] {
  const cases: KillCase[] = [];
  for (const shell of ["dash", "bash", "busybox"] as const)
    for (const runner of shell === "busybox" ? (["own shell"] as const) : (["fork", "own shell"] as const))
      for (const reboots of [false, true])
        for (const signal of ["SIGTERM", "SIGHUP", "SIGINT", "SIGKILL"] as const)
          for (const targets of allTargets(shell !== "busybox"))
            for (const hitsGroup of targets.includes("job") ? [false, true] : [false])
              cases.push({ shell, runner, reboots, signal, targets, hitsGroup });
  return cases;
}

/** Cases for plain slots, which have no forker. */
export function plainKillCases(cases: readonly KillCase[]): KillCase[] {
  return cases.filter(({ runner, targets }) => runner === "own shell" && !targets.includes("forker"));
}

/** Every subset; with the job last, and with the job first. */
function allTargets(hasForker: boolean): Target[][] {
  const others: Target[] = hasForker ? ["loop", "keeper", "forker"] : ["loop", "keeper"];
  let subsets: Target[][] = [[]];
  for (const each of others) subsets = subsets.concat(subsets.map((few) => [...few, each]));
  return subsets.flatMap((few) =>
    few.length === 0 ? [["job"]] : [few, [...few, "job" as const], ["job" as const, ...few]],
  );
}

export function nameOfCase({ shell, runner, signal, targets, hitsGroup, reboots }: KillCase): string {
  const whom = targets.map((each) => (each === "job" && hitsGroup ? "all of the job" : each)).join(", ");
  return `${shell}, ${runner}: ${signal} to ${whom}${reboots ? ", then a reboot" : ""}`;
}

/** All processes of a slot ignore SIGINT, as background processes of a shell script do. */
export function endsBy(signal: KillSignal): boolean {
  return signal !== "SIGINT";
}

/** True if a keeper is left that gets the job's exit code. */
export function isKept({ targets, signal, runner }: KillCase): boolean {
  const isGone = (target: Target) => targets.includes(target) && endsBy(signal);
  return !isGone("keeper") && !(runner === "fork" && isGone("forker"));
}

export function isJobKilled({ targets, signal }: KillCase): boolean {
  return targets.includes("job") && endsBy(signal);
}

/** The ends that may be written for the job. */
export function allowedEnds(kill: KillCase): string[] {
  const killed = String(128 + NUMBERS[kill.signal]);
  if (!isJobKilled(kill)) return kill.reboots ? ["lost"] : [String(OWN_CODE)];
  if (isKept(kill)) return [killed];
  // If the job is killed first, its keeper may still report it before the keeper itself is killed.
  return kill.targets[0] === "job" ? ["lost", killed] : ["lost"];
}

/**
 * The same for the next job. If the slot continues at once, that job may be running when the machine is rebooted, or a forker may get
 * it in the moment before it ends.
 */
export function allowedNextEnds(kill: KillCase): string[] {
  const mayBeTaken = kill.reboots || kill.targets.includes("forker");
  return mayBeTaken && isJobKilled(kill) ? ["0", "lost"] : ["0"];
}

/** Quick enough for every test run, with some cases of every kind. */
export function sampleKillCases(step = SAMPLE_STEP): KillCase[] {
  return allKillCases().filter((_, index) => index % step === 0);
}

const SAMPLE_STEP = 45;
