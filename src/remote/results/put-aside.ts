// Moves excluded parts of ended jobs' results aside on the machine. They are removed with the job's directory.

import ignore from "ignore";
import { quote } from "../../transport/quote.js";
import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, prelude } from "../engine/layout.js";
import { runtimeFile } from "../runtime-files.js";

interface Aside {
  readonly place: Place;
  readonly keys: readonly string[];
  /** Patterns as in an ignore file at the top of a job's directory. */
  readonly exclude: readonly string[];
  readonly signal: AbortSignal;
}

const MAX_LIST_BYTES = 256 << 20;

/** May be repeated: paths that are already aside are not listed again. */
export async function putAside(session: Session, aside: Aside): Promise<void> {
  const { place, keys, exclude, signal } = aside;
  if (exclude.length === 0) return;
  const script = `${prelude(place)}${runtimeFile("put-aside.sh")}`;
  const names = await ask(session, {
    doing: "listing results",
    script: `${script}list_results ${keys.map(quote).join(" ")} </dev/null || exit 1\necho done\n`,
    signal,
    maxBytes: MAX_LIST_BYTES,
  });
  const excluded = findExcluded(names, exclude);
  if (excluded.length === 0) return;
  await ask(session, {
    doing: "excluding results",
    script: `${script}move_aside || exit 1\necho done\n`,
    stdin: Buffer.from(excluded.map((name) => `${name}\0`).join("")),
    signal,
  });
}

/** `names`: `<key>/work/<path>`, directories with a slash at the end. Returns the outermost ones that match. */
export function findExcluded(names: readonly string[], exclude: readonly string[]): string[] {
  const rules = ignore({ ignorecase: false }).add([...exclude]);
  const matching = names.filter((name) => {
    const [, below = ""] = /^[^/]+\/work\/(.+)$/s.exec(name) ?? [];
    return below !== "" && rules.test(below).ignored;
  });
  const directories = new Set(matching.filter((name) => name.endsWith("/")));
  return matching
    .filter((name) => !parentsOf(name).some((parent) => directories.has(parent)))
    .map((name) => name.replace(/\/$/, ""));
}

/** Each with its slash. */
function parentsOf(name: string): string[] {
  const parts = name.replace(/\/$/, "").split("/");
  return parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join("/")}/`);
}
