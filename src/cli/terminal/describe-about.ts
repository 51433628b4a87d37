// Describes how a machine was reached, in one line.

import type { About } from "../../transport/session.js";

/** "reached by openssh, because the configuration has a ProxyCommand; logged in with …; host key …" */
export function describeAbout({ transport, why, via, login, hostKey }: About): string {
  if (transport === "local") return "reached without ssh: it is this computer";
  return [
    `reached by ${transport}${why === null ? "" : `, because ${why}`}`,
    ...(via.length === 0 ? [] : [`via ${via.join(", ")}`]),
    ...(login === null ? [] : [`logged in with ${login}`]),
    ...(hostKey === null ? [] : [`host key ${hostKey}`]),
  ].join("; ");
}
