// Reads a machine's resources: one script, a little over 100 ms, or a quick look, whatever is wrong with its cards.

import { randomBytes } from "node:crypto";
import type { Capacity } from "../../model/machine.js";
import { quote } from "../../transport/quote.js";
import { runScript } from "../../transport/script/run-script.js";
import type { Session } from "../../transport/session.js";
import { framedLines } from "../engine/framed-lines.js";
import { runtimeFile } from "../runtime-files.js";
import { parseProbe } from "./parse-probe.js";

export interface ProbeOptions {
  /** Directories below which batches/<batch>/slots/ are: what live slots claim there is taken. `~/` is the home on the machine. */
  readonly bases: readonly string[];
  /** The claims of these batches are left out: they are the own ones. */
  readonly except?: readonly string[];
  /** How busy the cores are may be a rough guess. */
  readonly isQuick?: boolean;
}

/** Throws RemoteError when the script did not get to its end. */
export async function probe(session: Session, options: ProbeOptions, signal: AbortSignal): Promise<Capacity> {
  const nonce = `sshoal-${randomBytes(9).toString("hex")}`;
  const settings = options.isQuick ? { ...SETTINGS, apart: "2" } : SETTINGS;
  const answer = await runScript(session, probeScript(nonce, options.bases, settings), { signal });
  const capacity = parseProbe(framedLines(answer, nonce, "its resources could not be read"));
  return {
    ...capacity,
    claims: capacity.claims.filter(({ batch }) => !options.except?.includes(batch)),
  };
}

/** Shell variables; what they mean is said in probe.sh. */
const SETTINGS = { proc: "/proc", sys: "/sys", gpu_seconds: "10", apart: "10" };

export function probeScript(nonce: string, bases: readonly string[], settings = SETTINGS): string {
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
