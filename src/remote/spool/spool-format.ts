// Asks for the format of a batch's spool on a machine, before an earlier client's work is resumed.

import { SPOOL_FORMAT } from "../../model/machine.js";
import { describeNewer } from "../../model/version.js";
import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, prelude } from "../engine/layout.js";
import { RemoteError } from "../engine/remote-error.js";
import { wordsAfter } from "../engine/words-after.js";

/** Null: there is no spool. Rejects for the spool of a newer sshoal. Format 1 had no file that names the format. */
export async function readSpoolFormat(
  session: Session,
  place: Place,
  signal: AbortSignal,
): Promise<number | null> {
  const script = `${prelude(place)}
format=1
{ read -r format <"$spool/format"; } 2>/dev/null
[ ! -e "$spool/trees" ] || echo "format $format"
echo done
`;
  const answers = await ask(session, { doing: "looking for the batch", script, signal });
  const [word] = wordsAfter("format", answers);
  const format = word === undefined ? null : Number(word);
  if (format === null || format <= SPOOL_FORMAT) return format;
  const { message, hint } = describeNewer(null);
  throw new RemoteError(`the batch on it was ${message}`, hint);
}
