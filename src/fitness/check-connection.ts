// Checks how the machine was reached, what its login shell does first, and how many sessions it allows.

import type { Check, Connection, Examination, StartUp } from "../model/examination.js";

export function checkConnection({ connection, startUp, facts, sessions }: Examination): Check[] {
  if (connection.transport === "local") return [ok("reach", "this computer, without ssh")];
  return [
    checkReach(connection),
    ...(connection.hostKey === null ? [] : [ok("host key", hostKeyWords(connection, connection.hostKey))]),
    ok(
      "login",
      `as ${facts.user || "an unknown user"}${connection.login === null ? "" : `, by ${connection.login}`}`,
    ),
    ok("transport", transportWords(connection)),
    ...checkShell(startUp, facts.loginShell),
    ...(sessions === null ? [] : [checkSessions(sessions)]),
  ];
}

function checkReach({ via, tookMs }: Connection): Check {
  const hops = via.length === 0 ? "" : ` via ${via.join(", ")}`;
  return ok("reach", `connected${hops} in ${seconds(tookMs)} s`);
}

function hostKeyWords({ isHostKeyNew }: Connection, hostKey: string): string {
  return `${hostKey} (${isHostKeyNew ? "new: compare it with the machine's own" : "known"})`;
}

function transportWords({ transport, why }: Connection): string {
  const name = transport === "openssh" ? "the system's ssh (openssh)" : "built in (ssh2)";
  return why === null ? name : `${name}, because ${why}`;
}

/** Every request to a machine waits for its start-up files. */
const SLOW_START_MS = 2000;
const LONGEST_QUOTE = 60;

function checkShell({ tookMs, noise }: StartUp, loginShell: string): Check[] {
  const name = loginShell.split("/").at(-1) || "unknown";
  const file = START_UP[name] ?? OTHER_START_UP;
  const checks: Check[] = [];
  if (tookMs > SLOW_START_MS) {
    checks.push({
      check: "login shell",
      verdict: "warn",
      says: `${name} takes ${seconds(tookMs)} s to start, and every request to the machine waits for it`,
      fix: `to skip this without a terminal, ${file}`,
    });
  }
  if (noise !== "") {
    const quoted = noise.replace(/\s+/g, " ");
    const said = quoted.length > LONGEST_QUOTE ? `${quoted.slice(0, LONGEST_QUOTE)}...` : quoted;
    checks.push({
      check: "login shell",
      verdict: "warn",
      says: `${name}'s start-up files print "${said}": sshoal ignores it, but scp and rsync fail because of it`,
      fix: `to print it only in a terminal, ${file}`,
    });
  }
  return checks.length > 0 ? checks : [ok("login shell", `${name}, quiet, starts in ${seconds(tookMs)} s`)];
}

/** How to keep the start-up file of each shell short if there is no terminal. */
const START_UP: Readonly<Record<string, string>> = {
  bash: "begin ~/.bashrc with: case $- in *i*) ;; *) return ;; esac",
  zsh: "move it from ~/.zshenv to ~/.zshrc",
  fish: "begin ~/.config/fish/config.fish with: status is-interactive; or exit",
  tcsh: "begin ~/.tcshrc (or ~/.cshrc) with: if (! $?prompt) exit",
  csh: "begin ~/.cshrc with: if (! $?prompt) exit",
};
const OTHER_START_UP = "change its start-up files";

/** One for the control channel, one for the event log, and one for other requests. */
const NEEDED_SESSIONS = 3;

function checkSessions(sessions: number): Check {
  if (sessions >= NEEDED_SESSIONS) return ok("sessions", `${sessions} or more at a time on one connection`);
  return {
    check: "sessions",
    verdict: "bad",
    says: `${sessions} at a time on one connection, ${NEEDED_SESSIONS} are needed`,
    fix: "the machine's administrator sets MaxSessions 10 in /etc/ssh/sshd_config",
  };
}

function ok(check: string, says: string): Check {
  return { check, verdict: "ok", says, fix: null };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
