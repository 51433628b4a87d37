// Explains why the system's ssh failed to connect, and what to type next (pure).

import { describeTarget, type SshTarget, sshCommand } from "../config/target.js";
import { ConnectError, type ConnectErrorKind } from "../connect-error.js";
import { hintAfterHangUp } from "../login/login-words.js";
import { quote, quoteIfNeeded } from "../quote.js";
import { explainSocket } from "../ssh2/ssh2-errors.js";
import { acceptOnce } from "../trust/host-key-refusal.js";
import { lastWords, type OpensshLog, parseOpensshLog, type TriedKey } from "./openssh-log.js";

/** `lines`: all lines of `ssh -v`. */
export function explainOpenssh(lines: readonly string[], target: SshTarget): ConnectError {
  const log = parseOpensshLog(lines);
  for (const explain of EXPLANATIONS) {
    const error = explain(log, target);
    if (error !== null) return error;
  }
  return fail("protocol", target, `the system's ssh failed: ${lastWords(lines)}`);
}

/** The time for the login ran out. */
export function tooSlow(target: SshTarget): ConnectError {
  return fail("silent", target, "does not finish the login");
}

type Explain = (log: OpensshLog, target: SshTarget) => ConnectError | null;

const EXPLANATIONS: readonly Explain[] = [
  explainConfig,
  explainHostKey,
  explainNetwork,
  explainLogin,
  explainAgreement,
  explainSilence,
  explainHangUp,
];

function fail(kind: ConnectErrorKind, target: SshTarget, what: string, hint?: string): ConnectError {
  const message = `${describeTarget(target)}: ${what}`;
  return new ConnectError(kind, message, { hint: hint ?? `try it yourself: ${sshCommand(target)}` });
}

function find({ words }: OpensshLog, pattern: RegExp): string | null {
  return words.find((line) => pattern.test(line)) ?? null;
}

function explainConfig(log: OpensshLog, target: SshTarget): ConnectError | null {
  if (find(log, /\bssh: (command )?not found$/) !== null) {
    const hint = "install it: apt install openssh-client, or dnf install openssh-clients";
    return fail("config", target, "this computer has no ssh program", hint);
  }
  const isRefused = find(log, /: terminating, \d+ bad configuration options/) !== null;
  const words = find(
    log,
    isRefused ? /\bline \d+: / : /^Bad owner or permissions on |^Can't open user config file /,
  );
  if (words === null) return null;
  const see = ["ssh", "-G", ...(target.configFile === null ? [] : ["-F", target.configFile]), target.alias];
  const hint = `correct it, then check it with: ${see.map(quoteIfNeeded).join(" ")}`;
  return fail("config", target, `ssh cannot use its configuration: ${words}`, hint);
}

function explainHostKey(log: OpensshLog, target: SshTarget): ConnectError | null {
  if (find(log, /^Host key verification failed/) === null) return null;
  const refuse = (what: string, hint: string) => fail("host-key", target, what, hint);
  if (find(log, /REVOKED HOST KEY DETECTED/) !== null) {
    return refuse(
      `its host key ${log.hostKey} is revoked`,
      "ask the machine's administrator; do not connect",
    );
  }
  if (find(log, /REMOTE HOST IDENTIFICATION HAS CHANGED/) !== null) return explainChange(log, target);
  if (find(log, /^No .*key is known for /) !== null) {
    const what = `is not in known_hosts, and only known hosts are accepted; its key is ${log.hostKey}`;
    return refuse(what, `if that is its key: ${acceptOnce(target)}; or --host-keys accept-new`);
  }
  const words = log.words.filter((line) => !/^(Host key verification failed|@|Warning: Identity)/.test(line));
  const why = words.length === 0 ? "" : `: ${words.join("; ")}`;
  return refuse(`its host key ${log.hostKey} is not trusted${why}`, `try it yourself: ${sshCommand(target)}`);
}

function explainChange(log: OpensshLog, target: SshTarget): ConnectError {
  const [, file = "known_hosts", line = "?"] =
    /^Offending .*key in (.*):(\d+)$/.exec(find(log, /^Offending /) ?? "") ?? [];
  const [, entry = target.host] =
    /^Host key for (\S+) has changed/.exec(find(log, /^Host key for /) ?? "") ?? [];
  const asRoot = target.globalKnownHosts.includes(file) ? "sudo " : "";
  const forget = `${asRoot}ssh-keygen -R ${quote(entry)} -f ${quoteIfNeeded(file)}`;
  const what = `its host key is now ${log.hostKey}, not the one in ${file}:${line}`;
  return fail("host-key", target, what, `if the machine was reinstalled: ${forget}`);
}

function explainNetwork(log: OpensshLog, target: SshTarget): ConnectError | null {
  if (find(log, /stdio forwarding request failed/i) !== null) {
    return fail("unreachable", target, `${target.proxyJump.at(-1)} cannot connect to it`);
  }
  const line = find(log, /^ssh: (Could not resolve hostname|connect to host) /);
  if (line === null) return null;
  const reason = /: ([^:]*)$/.exec(line)?.[1] ?? line;
  const [, code = reason] = NETWORK_REASONS.find(([words]) => words.test(reason)) ?? [];
  return explainSocket(Object.assign(new Error(line), { code }), target);
}

const NETWORK_REASONS: readonly (readonly [RegExp, string])[] = [
  [/refused/i, "ECONNREFUSED"],
  [/timed out/i, "ETIMEDOUT"],
  [/no route|host is (down|unreachable)/i, "EHOSTUNREACH"],
  [/network is (down|unreachable)/i, "ENETUNREACH"],
  [/not known|unknown host|no address|nodename nor servname/i, "ENOTFOUND"],
  [/temporary failure/i, "EAI_AGAIN"],
];

function explainLogin(log: OpensshLog, target: SshTarget): ConnectError | null {
  if (
    find(log, /: Permission denied \(|Too many authentication failures|no authentication methods/i) === null
  ) {
    return null;
  }
  const tried = log.tried.filter(({ outcome }) => target.hasOwnIdentities || outcome.kind !== "missing");
  const list = tried.map((key) => `${key.what} (${describeOutcome(key, target)})`).join(", ");
  const keys =
    tried.length === 0
      ? ": there is no key to log in with, neither in ~/.ssh nor in an agent"
      : `; tried: ${list}`;
  const takes = log.takes.length === 0 ? "" : `; the machine accepts ${log.takes.join(", ")}`;
  const says = `does not let ${target.username} in${keys}${takes}`;
  return fail("auth", target, says, hintForKeys(tried, log, target));
}

function describeOutcome({ path, outcome }: TriedKey, { agentSocket }: SshTarget): string {
  switch (outcome.kind) {
    case "refused":
      return "refused";
    case "missing":
      return "does not exist";
    case "unusable":
      return outcome.why;
    case "unsigned":
      if (outcome.why !== null || path === null) return outcome.why ?? "not signed with";
      return `has a passphrase, and ${agentSocket === null ? "there is no agent" : "the agent does not hold it"}`;
    default:
      return outcome satisfies never;
  }
}

function hintForKeys(tried: readonly TriedKey[], log: OpensshLog, target: SshTarget): string | undefined {
  if (log.takes.length > 0 && !log.takes.includes("publickey")) return undefined;
  if (tried.length === 0) {
    return "name a key in the machine file, ssh_key_path: ~/.ssh/my_key, or make one: ssh-keygen -t ed25519";
  }
  const refused = tried.filter(({ outcome }) => outcome.kind === "refused");
  if (find(log, /Too many authentication failures/i) !== null && refused.length > 0)
    return hintAfterHangUp(refused.length);
  const wanting = tried.find(({ outcome }) => outcome.kind !== "refused");
  if (wanting === undefined || wanting.path === null) return undefined;
  const path = quoteIfNeeded(wanting.path);
  if (wanting.outcome.kind === "missing") {
    return "correct ssh_key_path in the machine file, or IdentityFile in the ssh configuration";
  }
  if (find(log, /are too open/) !== null) return `chmod 600 ${path}`;
  if (wanting.outcome.kind === "unusable") return `check it with OpenSSH: ssh-keygen -y -f ${path}`;
  return `${target.agentSocket === null ? 'eval "$(ssh-agent)"; ' : ""}ssh-add ${path}`;
}

function explainAgreement(log: OpensshLog, target: SshTarget): ConnectError | null {
  const [, reason] =
    /^Unable to negotiate with .*?: (.*)$/.exec(find(log, /^Unable to negotiate/) ?? "") ?? [];
  return reason === undefined
    ? null
    : fail("protocol", target, `cannot agree with its ssh server: ${reason}`);
}

function explainSilence(log: OpensshLog, target: SshTarget): ConnectError | null {
  if (find(log, /timed out/i) === null) return null;
  if (log.hasGreeted) return tooSlow(target);
  const who = target.proxyCommand === null ? "accepts the connection but" : "its ProxyCommand";
  return fail("silent", target, `${who} sends nothing`);
}

function explainHangUp(log: OpensshLog, target: SshTarget): ConnectError | null {
  const isHangUp =
    /^(kex_exchange_identification|Connection (closed|reset)|.*Broken pipe|Received disconnect)/;
  if (find(log, isHangUp) === null) return null;
  if (log.hasGreeted || target.proxyCommand === null) {
    return fail("dropped", target, "closed the connection before the login was done (too many at once?)");
  }
  const words = log.words.filter((line) => !isHangUp.test(line) && !line.startsWith("Warning: "));
  const said = words.length === 0 ? "" : `, it printed: ${words.join("; ")}`;
  return fail("refused", target, `its ProxyCommand ended before the login was done${said}`);
}
