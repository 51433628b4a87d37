// Expands what OpenSSH allows in paths: ~, tokens such as %h, and ${VARIABLE}.

import { join } from "node:path";

export interface Tokens {
  /** By their letters, as under TOKENS in ssh_config(5): the host, as typed, as in known_hosts… */
  readonly h: string;
  readonly n: string;
  readonly k: string;
  readonly p: string;
  readonly r: string;
  readonly u: string;
  readonly l: string;
  readonly home: string;
  readonly accountHome: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function expandPath(path: string, tokens: Tokens): string {
  const { home, env } = tokens;
  const named = path
    .replace(/^~(?=\/|$)/, home)
    .replace(/\$\{(\w+)\}/g, (whole, name: string) => env[name] ?? whole);
  return moveHome(expandTokens(named, tokens), tokens);
}

/** An unknown token stays as it is. */
export function expandTokens(text: string, tokens: Tokens): string {
  const { h, n, k, p, r, u, l, home } = tokens;
  const i = String(process.getuid?.() ?? "");
  const letters = new Map(
    Object.entries({ h, n, k, p, r, u, l, i, L: l.split(".")[0] ?? l, d: home, "%": "%" }),
  );
  return text.replace(/%(.)/g, (whole, letter: string) => letters.get(letter) ?? whole);
}

/** OpenSSH expands some paths itself, and ignores HOME. */
function moveHome(path: string, { home, accountHome }: Tokens): string {
  const isElsewhere = !path.startsWith(`${accountHome}/`) || path.startsWith(`${home}/`);
  return isElsewhere ? path : join(home, path.slice(accountHome.length));
}
