// A Session over a stream that the machine itself has opened, with a shell server at its other end.

import type { Duplex } from "node:stream";
import ssh2 from "ssh2";
import { raceAbort } from "../aborted.js";
import { deferred } from "../deferred.js";
import type { Session } from "../session.js";
import { saveTrips } from "./fewer-trips.js";
import { gatherWrites } from "./gather-writes.js";
import { KEEPALIVE } from "./keepalive.js";
import type { OneTimeKey } from "./one-time-key.js";
import { Ssh2Session } from "./ssh2-session.js";

export interface StreamOpening {
  /** Owned from now on. */
  readonly stream: Duplex;
  /** The name of the machine. */
  readonly name: string;
  /** The only host key that is accepted. */
  readonly hostKey: Buffer;
  readonly key: OneTimeKey;
}

const LOGIN_WITHIN_MS = 10_000;
/** All batches of all queues share the connection, and the shell server has no limit of its own. */
const MOST_CHANNELS = 64;

/** Rejects if the machine does not let us in. */
export async function connectOverStream({ stream, name, hostKey, key }: StreamOpening): Promise<Session> {
  gatherWrites(stream);
  const client = new ssh2.Client();
  const tryIt = "sshoal join, on that machine";
  const place = { alias: name, described: name, tryIt, mostChannels: MOST_CHANNELS };
  const session = new Ssh2Session(client, stream, place);
  session.about = { ...session.about, why: "the machine has joined" };
  const ready = deferred<void>();
  client.once("ready", ready.resolve).on("error", ready.reject);
  client.once("close", () => ready.reject(new Error("the connection was lost during the handshake")));
  client.connect({
    sock: stream,
    username: "sshoal",
    privateKey: key.privatePem,
    authHandler: ["publickey"],
    hostVerifier: (offered: Buffer) => offered.equals(hostKey),
    readyTimeout: 0,
    ...KEEPALIVE,
  });
  saveTrips(client, { signsAtOnce: true, logsInAtOnce: true });
  const abort = raceAbort(AbortSignal.timeout(LOGIN_WITHIN_MS));
  try {
    await abort.race(ready.promise);
    return session;
  } catch (error) {
    stream.destroy();
    throw error;
  } finally {
    abort.done();
  }
}
