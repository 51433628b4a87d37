// The door to the service of an account on a machine that ssh reaches, as `--machines` names it.

import { machineContext } from "../../../batch/surroundings.js";
import { UserError } from "../../../errors.js";
import { loadMachines } from "../../../input/machine/load-machines.js";
import type { Door } from "../../../service/client/service-door.js";
import { sshDoor } from "../../../service/client/ssh-door.js";
import type { AskedServer } from "../../options/queue/server-options.js";
import { readSurroundings } from "../../read-surroundings.js";
import { connector } from "../../terminal/connectors.js";
import { note } from "../../terminal/note.js";

/** Throws UserError if the word names no machine, or several. */
export async function sshDoorTo(word: string, { hostKeys }: AskedServer): Promise<Door> {
  const surroundings = readSurroundings();
  const [machine, ...others] = await loadMachines([word], machineContext(null, surroundings));
  if (machine === undefined || others.length > 0)
    throw new UserError(`--server ${word}: one machine at a time`, { hint: "--server user@host" });
  const connect = connector(surroundings, { hostKeys, isJson: false }, note);
  return sshDoor({ name: word, connect: () => connect(machine, new AbortController().signal), onNote: note });
}
