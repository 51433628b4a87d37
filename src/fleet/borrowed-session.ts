// A shared session that looks like an exclusive one. Closing it ends everything that was started through it; closing
// the last one also closes the connection.

import { deferred } from "../transport/deferred.js";
import { lostRunning } from "../transport/script/lost-running.js";
import type { Running, Session } from "../transport/session.js";
import type { Lease } from "../transport/shared.js";

export interface Borrowed {
  readonly session: Session;
  /** The connection is unusable: from now on no other batch borrows it. */
  retire(): void;
}

const CLOSED = "closed on this side";

export function borrow({ shared, release, retire }: Lease<Session>): Borrowed {
  const open = new Set<Running>();
  const left = deferred<string>();
  let isClosed = false;
  const exec = async (script: string, readsNothing?: boolean): Promise<Running> => {
    if (isClosed) return lostRunning(CLOSED);
    const running = await shared.exec(script, readsNothing);
    if (isClosed) running.close();
    open.add(running);
    void running.ended.then(() => open.delete(running));
    return running;
  };
  const close = async () => {
    isClosed = true;
    if (await release()) return;
    for (const running of open) running.close();
    left.resolve(CLOSED);
  };
  const session: Session = {
    about: shared.about,
    gone: Promise.race([shared.gone, left.promise]),
    exec,
    makeReady: (count) => shared.makeReady?.(count),
    close,
  };
  return { session, retire };
}
