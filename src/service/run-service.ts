// Starts the queue service in this process: its record, its queues, and its API.

import { createHash } from "node:crypto";
import path from "node:path";
import { openApi } from "../api/open-api.js";
import type { Network } from "../api/open-network.js";
import { openConnector } from "../batch/connector.js";
import type { Surroundings } from "../batch/surroundings.js";
import { UserError } from "../errors.js";
import type { Capacities } from "../model/queue.js";
import { VERSION } from "../model/version.js";
import { readHolder, takeLock } from "../run/home/lock.js";
import { MOST_PATH_BYTES } from "../socket/listening.js";
import { isPrivateDir } from "../socket/private-dir.js";
import { Housekeeping } from "./housekeeping.js";
import { JoinedMachines } from "./joined/joined-machines.js";
import { loadOrMakeToken } from "./make-token.js";
import type { House } from "./queue/generation-order.js";
import { parseCard } from "./queue-machines.js";
import { ServiceCore } from "./service-core.js";
import { lockFile, makeServiceDir, noteFile, removeNote, serviceDir, writeNote } from "./service-place.js";
import type { HistoryLimits } from "./store/job-history.js";
import { openDatabase } from "./store/open-database.js";

export interface ServiceAsked {
  readonly surroundings: Surroundings;
  /** `--state`; null: below the state directory of the user. */
  readonly stateDir: string | null;
  /** What of jobs that are over is kept. */
  readonly limits: HistoryLimits;
  /** What queues of this computer share that declare nothing; null: as it was. */
  readonly capacity: Capacities | null;
  /** False: queues that name no machine do not use this computer. */
  readonly usesThisComputer: boolean;
  /** Where it also answers, to those who have its token; null: on its socket alone. */
  readonly listen: { readonly host: string; readonly port: number } | null;
  /** For the log of the service. */
  readonly onNote: (message: string) => void;
}

export interface RunningService {
  readonly socket: string;
  /** Null: on its socket alone. */
  readonly network: Network | null;
  readonly dir: string;
  /** Resolves when a client has asked the service to end. */
  readonly askedToEnd: Promise<void>;
  /** Leaves the jobs on their machines. */
  close(): Promise<void>;
}

/** Throws UserError if it cannot, or if one runs already. */
export async function startService({ stateDir, ...asked }: ServiceAsked): Promise<RunningService> {
  const dir = serviceDir(asked.surroundings, stateDir);
  makeServiceDir(dir);
  const unlock = lock(lockFile(dir));
  try {
    return await startLocked({ ...asked, dir, unlock });
  } catch (error) {
    unlock();
    throw error;
  }
}

function lock(file: string): () => void {
  const holder = readHolder(file);
  if (holder !== null)
    throw new UserError(`the queue service runs already: process ${holder.pid}`, {
      hint: "sshoal serve status",
    });
  return takeLock(file);
}

/** The same one after a restart. Another state directory has another service. */
function socketFor({ socketDirs }: Surroundings, dir: string): string {
  const name = `service-${createHash("sha256").update(dir).digest("hex").slice(0, 12)}.sock`;
  const found = socketDirs.find(
    (each) => Buffer.byteLength(path.join(each, name)) <= MOST_PATH_BYTES && isPrivateDir(each),
  );
  if (found !== undefined) return path.join(found, name);
  throw new UserError("there is no directory for the socket of the service that only you can enter", {
    hint: "set XDG_RUNTIME_DIR to a directory of yours with mode 700",
  });
}

interface Starting extends Omit<ServiceAsked, "stateDir"> {
  readonly dir: string;
  readonly unlock: () => void;
}

async function startLocked(starting: Starting): Promise<RunningService> {
  const { surroundings, dir, limits, capacity, listen, onNote, unlock, usesThisComputer } = starting;
  const db = await openDatabase(dir);
  const joined = new JoinedMachines();
  const connector = openConnector({
    surroundings,
    hostKeys: null,
    onNote,
    createAsk: null,
    connectJoined: (name, signal) => joined.connect(name, signal),
  });
  const house: House & { readonly joined: JoinedMachines } = {
    surroundings,
    joined,
    usesThisComputer,
    fleet: connector.fleet,
    dir,
    measured: {
      capacityOf: (queue, machine) =>
        db.machines.of(queue).find((each) => each.machine === machine)?.capacity ?? null,
      drainedCards: (queue, machine) =>
        db.machines.of(queue).flatMap((each) => {
          const card = each.isDraining ? parseCard(each.machine) : null;
          return card?.machine === machine ? [card.card] : [];
        }),
      note: (queue, machine, capacity) =>
        db.transactions
          .write(() => db.machines.measured(queue, machine, capacity, Date.now()))
          .catch(() => {}),
    },
    onBug: (error) =>
      onNote(`a bug, please report it: ${error instanceof Error ? error.stack : String(error)}`),
  };
  const core = await ServiceCore.open({ db, house, capacity });
  const housekeeping = new Housekeeping(db, dir, { limits, onNote });
  let noteEnd = () => {};
  const askedToEnd = new Promise<void>((resolve) => {
    noteEnd = resolve;
  });
  const socketPath = socketFor(surroundings, dir);
  const network = listen && { ...listen, token: loadOrMakeToken(dir) };
  const api = await openApi({ service: core, socketPath, network, onShutdown: noteEnd, onBug: house.onBug });
  const file = noteFile(surroundings);
  writeNote(file, {
    pid: surroundings.pid,
    socket: socketPath,
    version: VERSION,
    state: dir,
    startedAt: Date.now(),
    listen: api.network?.address ?? null,
    node: process.execPath,
    keepJobs: limits.jobs,
    keepDays: limits.days,
    usesThisComputer,
  });
  return {
    socket: socketPath,
    network: api.network,
    dir,
    askedToEnd,
    close: async () => {
      await housekeeping.close();
      await api.close();
      await core.close();
      removeNote(file, surroundings.pid);
      unlock();
    },
  };
}
