// Under which heading help lists each option and each command. One table for all, so that an option stands in the same place everywhere.

import type { Command, Option } from "commander";

/** By flag; with its value or both flags where another command has the long one for something else. The order is that of help. */
const OPTION_GROUPS: Readonly<Record<string, readonly string[]>> = {
  Sweep: ["--parameter", "--sampling-mode", "--n-samples", "--seed", "--run", "--enqueue"],
  "The service": [
    "--foreground",
    "--install",
    "--state <directory>",
    "--keep-jobs",
    "--keep-days",
    "--listen",
    "--no-local",
  ],
  "Which service": ["--server", "--token-file"],
  "The daemon": ["--bind", "--connect", "--no-worker", "--no-broker", "--cert", "--cert-pass", "--db"],
  "The queue": [
    "--queue <queue...>",
    "--json <amounts>",
    "--capacity",
    "--file",
    "--unsecure",
    "--max-jobs",
    "--ahead",
    "--stop",
  ],
  "When it runs": ["--priority", "--after", "--after-any", "--after-fail", "--hold", "--wait", "--sync"],
  "Which jobs": [
    "--broker",
    "--queue",
    "--status",
    "--confirmed",
    "--state <state>",
    "--limit",
    "--failed",
    "--follow",
    "--kabuki-commands",
  ],
  "Which machines": ["--machines", "--machine", "-F", "--host-keys"],
  "What a job needs": [
    "--num-cpus",
    "--memory-required",
    "--reserve",
    "--no-reserve-gpu",
    "--no-gpu-required",
    "--gpus",
    "--gpu-memory-required",
    "--gpu-utilization",
    "--gpus-per-job",
    "--gpu-model",
    "--gpu-memory-total",
    "--json <needs>",
    "--require",
    "--pack",
    "--polite",
  ],
  "What travels": [
    "--cwd",
    "--freeze",
    "--copy-forward",
    "--copy-backwards",
    "--copy-unchanged",
    "--exclude",
    "--max-send",
    "--env",
    "-e, --env",
    "--wrap",
    "--keep-dir",
  ],
  "Failures and reruns": [
    "--timeout",
    "--limit-memory",
    "--retries",
    "--retry-on-failure",
    "--retry-on-oom",
    "--reassign-after",
    "--halt",
    "--no-pause",
    "--retry-failed",
    "--rerun",
    "--keep-changed",
  ],
  Following: ["--all", "--detach", "--watch", "-f, --follow", "--notify", "--notify-on"],
  Output: [
    "--out",
    "--name",
    "--results-here",
    "--interactive",
    "--err",
    "--tail",
    "--job-name",
    "--sort",
    "--csv",
    "--html",
    "--json",
    "--table",
    "--merge",
    "--max-output",
    "--max-old",
    "--tee",
    "--dry-run",
    "--verbose",
  ],
  "On this computer": ["--here"],
  Help: ["--version", "--help"],
};

/** By name; with its program in front where sshoal has that name for something else. */
const COMMAND_GROUPS: Readonly<Record<string, readonly string[]>> = {
  "The daemon": ["start", "daemon", "grass stop"],
  "Queues and jobs": ["create-queue", "delete-queue", "grass enqueue", "grass show"],
  "Run a batch": ["run", "sweep"],
  "Follow and act": ["attach", "stop", "retry", "drain", "undrain"],
  "Look at a batch": ["status", "why", "wait", "results", "logs"],
  "Queue service": ["serve", "join", "queue", "enqueue", "show", "remove", "priority", "hold", "release"],
  Machines: ["top", "probe", "doctor", "clean"],
  "Set up": ["mcp", "config", "completion", "help"],
};

/** What is in no group: a test fails then. */
export const NO_GROUP = "Other:";
const TITLES = [...Object.keys(OPTION_GROUPS), ...Object.keys(COMMAND_GROUPS)];
const conditions = new WeakMap<Option, string>();

/** Options that count only on a condition are listed apart. `condition`: "with --run". */
export function groupApart(options: readonly Option[], condition: string): void {
  for (const option of options) conditions.set(option, condition);
}

/** Looked up when help is shown, since most commands never show it. */
export function optionHeading(option: Option): string {
  const bare = option.flags.replace(/ [<[].*/, "");
  const title =
    titleOf(OPTION_GROUPS, option.flags) ??
    titleOf(OPTION_GROUPS, bare) ??
    titleOf(OPTION_GROUPS, option.long ?? bare);
  const condition = conditions.get(option);
  if (title === null) return NO_GROUP;
  return condition === undefined ? `${title}:` : `${title} (${condition}):`;
}

export function commandHeading(command: Command): string {
  const name = command.name();
  const title = titleOf(COMMAND_GROUPS, `${command.parent?.name()} ${name}`) ?? titleOf(COMMAND_GROUPS, name);
  return title === null ? NO_GROUP : `${title}:`;
}

function titleOf(groups: typeof OPTION_GROUPS, name: string): string | null {
  return Object.keys(groups).find((title) => groups[title]?.includes(name)) ?? null;
}

/** The items of each heading, in the order of the tables. */
export function grouped<T>(
  items: readonly T[],
  headingOf: (item: T) => string,
): (readonly [string, readonly T[]])[] {
  const headings = [...new Set(items.map(headingOf))].sort((one, other) => rankOf(one) - rankOf(other));
  return headings.map((heading) => [heading, items.filter((item) => headingOf(item) === heading)]);
}

function rankOf(heading: string): number {
  const rank = TITLES.findIndex((title) => heading.startsWith(title));
  return rank === -1 ? TITLES.length : rank;
}

/** For the test that each entry is of use. */
export function groupedNames(): { readonly flags: readonly string[]; readonly commands: readonly string[] } {
  return { flags: Object.values(OPTION_GROUPS).flat(), commands: Object.values(COMMAND_GROUPS).flat() };
}
