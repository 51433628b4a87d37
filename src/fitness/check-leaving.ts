// Checks whether jobs continue after the client disconnects, and whether the clocks agree.

import type { Check, Examination, HostFacts } from "../model/examination.js";

export function checkLeaving({ facts, outlivesLogout, connection }: Examination): Check[] {
  const isLocal = connection.transport === "local";
  return [...checkLogout(facts, outlivesLogout, isLocal), ...(isLocal ? [] : checkClock(facts.clockAheadMs))];
}

function checkLogout(facts: HostFacts, outlives: boolean | null, isLocal: boolean): Check[] {
  if (outlives === true)
    return [
      { check: "logout", verdict: "ok", says: `tried: processes survive it${lingerWords(facts)}`, fix: null },
    ];
  if (outlives === false) {
    return [
      {
        check: "logout",
        verdict: "bad",
        says: `tried: processes are killed when the connection ends${killWords(facts)}`,
        fix: logindFix(facts),
      },
    ];
  }
  if (facts.killsProcesses !== true || facts.user === "root") return isLocal ? [] : [untriedCheck()];
  return [
    {
      check: "logout",
      verdict: "warn",
      says: `not tried, but systemd kills a user's processes at logout${killWords(facts)}`,
      fix: logindFix(facts),
    },
  ];
}

function untriedCheck(): Check {
  return {
    check: "logout",
    verdict: "warn",
    says: "could not test whether processes survive it",
    fix: "run one job with --detach and look at sshoal status",
  };
}

function lingerWords({ lingers }: HostFacts): string {
  return lingers === true ? " (lingering is on)" : "";
}

function killWords({ killsProcesses }: HostFacts): string {
  return killsProcesses === true ? " (KillUserProcesses=yes)" : "";
}

/** Lingering alone does not help: it keeps the user's own systemd, but not processes that a login started. */
function logindFix({ user }: HostFacts): string {
  return `the machine's administrator sets KillUserProcesses=no, or KillExcludeUsers=root ${user}, in /etc/systemd/logind.conf and types: sudo systemctl restart systemd-logind`;
}

const FAR_OFF_MS = 60_000;

function checkClock(aheadMs: number | null): Check[] {
  if (aheadMs === null) return [];
  const off = Math.abs(aheadMs);
  if (off < FAR_OFF_MS)
    return [
      {
        check: "clock",
        verdict: "ok",
        says: off < 2000 ? "agrees with this computer" : `${Math.round(off / 1000)} s ${side(aheadMs)}`,
        fix: null,
      },
    ];
  return [
    {
      check: "clock",
      verdict: "warn",
      says: `${minutes(off)} ${side(aheadMs)}: sshoal does not depend on it, but dates of results look wrong, and make may be misled`,
      fix: "on the machine: sudo timedatectl set-ntp true",
    },
  ];
}

function side(aheadMs: number): string {
  return aheadMs > 0 ? "ahead of this computer" : "behind this computer";
}

function minutes(ms: number): string {
  const all = Math.round(ms / 60_000);
  if (all < 120) return `${all} min`;
  const hours = Math.round(all / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
