// Parses the lines of `ssh -v`, the only place where ssh prints how it logged in, or why not.

/** What happened to one key. */
export interface TriedKey {
  /** "the key /home/me/.ssh/id_rsa", "the agent's key SHA256:…" */
  readonly what: string;
  /** The path of its file; null: only the agent has it. */
  readonly path: string | null;
  readonly outcome: KeyOutcome;
}

type KeyOutcome =
  | { readonly kind: "refused" }
  /** The machine would accept it, but it was not signed: a passphrase was missing, or the agent refused. */
  | { readonly kind: "unsigned"; readonly why: string | null }
  | { readonly kind: "unusable"; readonly why: string }
  | { readonly kind: "missing" };

export interface OpensshLog {
  /** Without debugging lines. */
  readonly words: readonly string[];
  /** `ssh-ed25519 SHA256:…` */
  readonly hostKey: string | null;
  readonly login: string | null;
  readonly tried: readonly TriedKey[];
  /** The methods that the machine accepts, as last listed. */
  readonly takes: readonly string[];
  /** The server has sent its version. */
  readonly hasGreeted: boolean;
  /** A key that was seen for the first time was accepted, and stored or not. */
  readonly newHostKey: "kept" | "not kept" | null;
}

export function parseOpensshLog(lines: readonly string[]): OpensshLog {
  return {
    words: lines.filter((line) => !/^(debug\d: |OpenSSH_|$)/.test(line)),
    hostKey: lastMatch(lines, /^debug1: Server host (?:key|certificate): (\S+ [^\s,]+)/),
    login: parseLogin(lines),
    tried: [...parseOffers(lines), ...parseUnusable(lines)],
    takes: (lastMatch(lines, /^debug1: Authentications that can continue: (\S+)/) ?? "")
      .split(",")
      .filter(Boolean),
    hasGreeted: lines.some((line) => isGreeting(line)),
    newHostKey: parseNewHostKey(lines),
  };
}

/** From here on the time depends on the server and on people. */
export function isGreeting(line: string): boolean {
  return line.startsWith("debug1: Remote protocol version ");
}

/** Logged in; other processes may use the connection. */
export function isReady(line: string): boolean {
  return line.startsWith("debug1: Entering interactive session.");
}

/** The last message of ssh itself, for use after it has ended. */
export function lastWords(lines: readonly string[]): string {
  const { words } = parseOpensshLog(lines);
  const telling = words.filter(
    (line) => !/^(Transferred: |Bytes per second: |Authenticated to |channel \d+: )/.test(line),
  );
  return telling.at(-1)?.trim() ?? "its ssh process ended";
}

function parseNewHostKey(lines: readonly string[]): OpensshLog["newHostKey"] {
  if (lines.some((line) => line.startsWith("Failed to add the host to the list of known hosts")))
    return "not kept";
  return lines.some((line) => line.startsWith("Warning: Permanently added ")) ? "kept" : null;
}

function lastMatch(lines: readonly string[], pattern: RegExp): string | null {
  return lines.flatMap((line) => pattern.exec(line)?.[1] ?? []).at(-1) ?? null;
}

function parseLogin(lines: readonly string[]): string | null {
  const method =
    lastMatch(lines, /^Authenticated to .* using "([^"]+)"\.$/) ??
    lastMatch(lines, /^debug1: Authentication succeeded \(([^)]+)\)/);
  if (method !== "publickey") return method;
  const key = lines.flatMap((line) => parseKey(line, "Server accepts key: ") ?? []).at(-1);
  return key === undefined ? method : describeKey(key);
}

interface Key {
  readonly name: string;
  readonly fingerprint: string;
  readonly isCertificate: boolean;
  readonly isAgents: boolean;
  readonly isFile: boolean;
}

/** `/home/me/.ssh/id_rsa RSA SHA256:… explicit agent`. For a key that only the agent has, the name is its comment. */
function parseKey(line: string, intro: string): Key | null {
  const [start, rest] = [`debug1: ${intro}`, /^(.*) (\S+) ([A-Z0-9]+:\S+)((?: \w+)*)$/];
  if (!line.startsWith(start)) return null;
  const [, name = "", type = "", fingerprint = "", marks = ""] = rest.exec(line.slice(start.length)) ?? [];
  if (name === "") return null;
  const isAgents = marks.includes(" agent");
  return {
    name,
    fingerprint,
    isAgents,
    isCertificate: type.endsWith("-CERT"),
    isFile: !isAgents || marks.includes(" explicit") || name.startsWith("/"),
  };
}

function describeKey({ name, fingerprint, isCertificate, isAgents, isFile }: Key): string {
  const certificate = isCertificate ? "the certificate of " : "";
  if (!isFile) return `${certificate}the agent's key ${fingerprint}`;
  return `${certificate}the key ${name}${isAgents ? " by the agent" : ""}`;
}

function parseOffers(lines: readonly string[]): TriedKey[] {
  const isAccepted = (key: Key) =>
    lines.some((line) => line.startsWith("debug1: Server accepts key: ") && isOf(line, key));
  return lines.flatMap((line): TriedKey[] => {
    const key = parseKey(line, "Offering public key: ");
    if (key === null) return [];
    const outcome: KeyOutcome = isAccepted(key)
      ? { kind: "unsigned", why: whyUnsigned(lines, key) }
      : { kind: "refused" };
    return [{ what: describeKey(key), path: key.isFile ? key.name : null, outcome }];
  });
}

/** A key and its certificate have the same fingerprint. */
function isOf(line: string, key: Key): boolean {
  const other = parseKey(line, "Server accepts key: ");
  return other?.fingerprint === key.fingerprint && other.isCertificate === key.isCertificate;
}

function whyUnsigned(lines: readonly string[], { name }: Key): string | null {
  if (lines.some((line) => /^sign_and_send_pubkey: signing failed .*agent/.test(line))) {
    return "the agent does not sign with it";
  }
  return loadFailure(lines).find(({ path }) => path === name)?.why ?? null;
}

/** Files that were never offered. */
function parseUnusable(lines: readonly string[]): TriedKey[] {
  const offered = new Set(lines.flatMap((line) => parseKey(line, "Offering public key: ")?.name ?? []));
  const missing = lines.flatMap((line): TriedKey[] => {
    const [, path] = /^Warning: Identity file (.*) not accessible: /.exec(line) ?? [];
    return path === undefined ? [] : [{ what: `the key ${path}`, path, outcome: { kind: "missing" } }];
  });
  const unusable = loadFailure(lines)
    .filter(({ path }) => !offered.has(path))
    .map(
      ({ path, why }): TriedKey => ({ what: `the key ${path}`, path, outcome: { kind: "unusable", why } }),
    );
  return [...missing, ...unusable];
}

function loadFailure(lines: readonly string[]): { path: string; why: string }[] {
  return lines.flatMap((line) => {
    const [, path, reason] = /^Load key "(.*)": (.*)$/.exec(line) ?? [];
    if (path === undefined || reason === undefined) return [];
    return [{ path, why: WHY_NOT_LOADED.find(([words]) => words.test(reason))?.[1] ?? reason }];
  });
}

const WHY_NOT_LOADED: readonly (readonly [RegExp, string])[] = [
  [/bad permissions/, "other accounts can read it"],
  [/incorrect passphrase/, "the passphrase was wrong"],
  [/error in libcrypto|invalid format/, "ssh cannot read it"],
];
