// Finds the route of a request.

import { suggest } from "../input/suggest.js";
import { Refusal } from "./refusal.js";
import type { Route } from "./route.js";

export interface Found {
  readonly route: Route;
  readonly words: Readonly<Record<string, string>>;
}

/** Throws a Refusal with status 404 or 405. */
export function findRoute(routes: readonly Route[], method: string, path: string): Found {
  const matches = routes.flatMap((route) => {
    const words = matchPath(route.path, path);
    return words === null ? [] : [{ route, words }];
  });
  const found = matches.find(({ route }) => route.method === method);
  if (found !== undefined) return found;
  if (matches.length > 0) {
    const methods = matches.map(({ route }) => route.method).join(", ");
    throw new Refusal(405, `${path} does not take ${method}`, { hint: `it takes ${methods}` });
  }
  const [nearest] = suggest(path, new Set(routes.map((route) => route.path)));
  throw new Refusal(
    404,
    `there is no ${path}`,
    nearest === undefined ? {} : { hint: `did you mean ${nearest}?` },
  );
}

/** Null: it is another path. */
function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const parts = pattern.split("/");
  const words = path.split("/");
  if (parts.length !== words.length) return null;
  const named: [string, string][] = [];
  for (const [index, part] of parts.entries()) {
    const word = words[index] ?? "";
    if (!/^[A-Z]+$/.test(part)) {
      if (part !== word) return null;
    } else if (word === "") return null;
    else named.push([part, decoded(word)]);
  }
  return Object.fromEntries(named);
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
