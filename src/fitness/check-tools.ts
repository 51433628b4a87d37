// Checks the programs that sshoal's scripts call on the machine, and names the packages of missing ones.

import type { Check, HostFacts } from "../model/examination.js";
import { NEEDED_TOOLS, USEFUL_TOOLS } from "../model/tools.js";

export function checkTools(facts: HostFacts): Check[] {
  const { system, missingTools } = facts;
  if (system !== "" && system !== "Linux") return [systemCheck(system)];
  const needed = missingTools.filter((tool) => NEEDED_TOOLS.includes(tool));
  const useful = missingTools.filter((tool) => USEFUL_TOOLS.has(tool));
  const checks = [
    ...(needed.length === 0 ? [] : [neededCheck(needed, facts)]),
    ...useful.map((tool) => usefulCheck(tool, facts)),
  ];
  return checks.length > 0 ? checks : [{ check: "tools", verdict: "ok", says: "all there", fix: null }];
}

function systemCheck(system: string): Check {
  return {
    check: "system",
    verdict: "bad",
    says: `it runs ${system}; jobs run only on Linux`,
    fix: "use a machine with Linux",
  };
}

function neededCheck(tools: readonly string[], facts: HostFacts): Check {
  return {
    check: "tools",
    verdict: "bad",
    says: `there is no ${tools.join(", ")}`,
    fix: install(tools, facts),
  };
}

function usefulCheck(tool: string, facts: HostFacts): Check {
  return {
    check: "tools",
    verdict: "warn",
    says: `there is no ${tool}: ${USEFUL_TOOLS.get(tool)}`,
    fix: install([tool], facts),
  };
}

const PACKAGES: Readonly<Record<string, string>> = {
  tar: "tar",
  grep: "grep",
  sed: "sed",
  bash: "bash",
  awk: "gawk",
  find: "findutils",
  xargs: "findutils",
  setsid: "util-linux",
  flock: "util-linux",
};
const OTHER_PACKAGE = "coreutils";

const COMMANDS: Readonly<Record<string, string>> = { pacman: "pacman -S", apk: "apk add" };

function install(tools: readonly string[], { packageManager }: HostFacts): string {
  const packages = [...new Set(tools.map((tool) => PACKAGES[tool] ?? OTHER_PACKAGE))].join(" ");
  if (packageManager === null) return `install on the machine: ${packages}`;
  return `on the machine: sudo ${COMMANDS[packageManager] ?? `${packageManager} install`} ${packages}`;
}
