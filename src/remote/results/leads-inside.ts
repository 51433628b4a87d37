// Checks that a symbolic link of a job's results stays inside them. Pure.

import path from "node:path";

/** `place`: where the link is created; its first two components are the directory that it must not leave. */
export function leadsInside(place: string, target: string): boolean {
  if (target === "" || target.startsWith("/") || goesDownAndUp(target)) return false;
  const within = place.split("/").slice(0, 2).join("/");
  const lands = path.posix.normalize(path.posix.join(path.posix.dirname(place), target));
  return lands === within || lands.startsWith(`${within}/`);
}

/** A ".." after a name that may itself be a link does not lead where the text suggests. */
function goesDownAndUp(target: string): boolean {
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const down = parts.findIndex((part) => part !== "..");
  return down >= 0 && parts.includes("..", down);
}
