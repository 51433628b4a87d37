// Puts aside, on the machine, what of ended jobs' results is not to come back. It goes when the job's directory goes.

import ignore from "ignore";
import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, prelude } from "../engine/layout.js";

interface Aside {
  readonly place: Place;
  readonly keys: readonly string[];
  /** As in an ignore file at the top of a job's directory. */
  readonly exclude: readonly string[];
  readonly signal: AbortSignal;
}

const MAX_LIST_BYTES = 256 << 20;

/** May be repeated: what is aside already is not listed again. */
export async function putAside(session: Session, aside: Aside): Promise<void> {
  const { place, keys, exclude, signal } = aside;
  if (exclude.length === 0) return;
  const works = keys.map((key) => `${key}/work`).join(" ");
  const listing = `${prelude(place)}
cd "$spool/jobs" || exit 1
for work in ${works}; do
  [ -d "$work" ] || continue
  find "$work" ! -path "$work" -type d -exec sh -c 'for path; do printf "%s/\\n" "$path"; done' sh {} + </dev/null 2>/dev/null
  find "$work" ! -type d -print </dev/null 2>/dev/null
done
echo done
`;
  const doing = "listing results";
  const names = await ask(session, { doing, script: listing, signal, maxBytes: MAX_LIST_BYTES });
  const excluded = findExcluded(names, exclude);
  if (excluded.length === 0) return;
  const moving = `${prelude(place)}
cd "$spool/jobs" || exit 1
xargs -0 sh -c 'for path; do
  aside=\${path%%/*}/aside
  mkdir -p "$aside" && number=$((number + 1)) && mv -- "$path" "$aside/$$.$number"
done' sh
echo done
`;
  const stdin = Buffer.from(excluded.map((name) => `${name}\0`).join(""));
  await ask(session, { doing: "leaving results out", script: moving, stdin, signal });
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
