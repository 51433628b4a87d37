// Takes jobs back from a machine without its control channel, which needs a complete spool. Jobs that never arrived are
// blocked from arriving late, even if the machine has nothing of the batch yet.

import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, prelude } from "../engine/layout.js";
import { wordsAfter } from "../engine/words-after.js";
import { runtimeFile } from "../runtime-files.js";

/** For a key in neither list, the machine could not tell, and must be asked again. */
export interface TakenBack {
  /** Not begun, and back at the client. */
  readonly taken: readonly string[];
  readonly begun: readonly string[];
}

export interface TakingBack {
  readonly place: Place;
  readonly keys: readonly string[];
  readonly signal: AbortSignal;
}

export async function takeBack(session: Session, { place, keys, signal }: TakingBack): Promise<TakenBack> {
  const script = `${prelude(place)}
mkdir -p "$spool" && cd "$spool" || exit 1
${runtimeFile("lib.sh")}
${runtimeFile("logs.sh")}
${runtimeFile("control.sh")}
take_back ${keys.join(" ")} </dev/null
echo done
`;
  return parseTakenBack(await ask(session, { doing: "taking jobs back", script, signal }));
}

export function parseTakenBack(answers: readonly string[]): TakenBack {
  return { taken: wordsAfter("taken", answers), begun: wordsAfter("begun", answers) };
}
