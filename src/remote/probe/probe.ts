// Reads a machine's resources with one script, in about 100 ms, or quicker with a rough look at the cores. Works
// whatever is wrong with its cards.

import { randomBytes } from "node:crypto";
import type { Capacity } from "../../model/machine.js";
import { quote } from "../../transport/quote.js";
import { runScript } from "../../transport/script/run-script.js";
import type { Session } from "../../transport/session.js";
import { framedLines } from "../engine/framed-lines.js";
import { runtimeFile } from "../runtime-files.js";
import { parseProbe } from "./parse-probe.js";

export interface ProbeOptions {
  /** Directories that contain batches/<batch>/slots/, whose live claims count as taken. `~/` is the home on the machine. */
  readonly bases: readonly string[];
  /** Claims of these batches are ignored, because they are this batch's own. */
  readonly except?: readonly string[];
  /** The connection has no shell yet, so the script travels with the words that start one. */
  readonly isFirst?: boolean;
  /** The load of the cores may be a rough estimate. */
  readonly isQuick?: boolean;
  /** The processes on every card are read, not only those on cards that look used. Takes up to a second longer. */
  readonly wantsHolders?: boolean;
}

/** Throws RemoteError if the script did not reach its end. */
export async function probe(session: Session, options: ProbeOptions, signal: AbortSignal): Promise<Capacity> {
  const nonce = `sshoal-${randomBytes(9).toString("hex")}`;
  const settings = {
    ...SETTINGS,
    ...(options.isQuick && { apart: "2" }),
    ...(options.wantsHolders && { details: "yes" }),
  };
  const script = probeScript(nonce, options.bases, settings);
  const answer = await runScript(session, script, { signal, readsNothing: options.isFirst ?? false });
  const capacity = parseProbe(framedLines(answer, nonce, "its resources could not be read"));
  return {
    ...capacity,
    // Another account may have a batch of the same name.
    claims: capacity.claims.filter(({ owner, batch }) => !(options.except?.includes(batch) && owner === "")),
  };
}

/** Shell variables, explained in probe.sh. */
const SETTINGS = { proc: "/proc", sys: "/sys", gpu_seconds: "10", apart: "10", details: "no" };

export function probeScript(
  nonce: string,
  bases: readonly string[],
  settings: Partial<typeof SETTINGS> = SETTINGS,
): string {
  const assignments = Object.entries({ nonce, ...settings }).map(
    ([name, value]) => `${name}=${quote(value)}`,
  );
  const words = [...new Set(bases)].map(homeWord).join(" ");
  return [...assignments, `set -- ${words}`, runtimeFile("logout.sh"), runtimeFile("probe.sh")].join("\n");
}

function homeWord(path: string): string {
  if (path === "~") return '"$HOME"';
  return path.startsWith("~/") ? `"$HOME"/${quote(path.slice(2))}` : quote(path);
}
