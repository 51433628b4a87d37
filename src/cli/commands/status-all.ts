// `sshoal status --all`: how far all batches of this user on this computer are.

import type { Connector } from "../../batch/connector.js";
import { findAllBatches } from "../../batch/find/all-batches.js";
import { ExitCode, UserError } from "../../errors.js";
import { allBatchesJson, allBatchesLines, unreachedNotes } from "../../report/tables/all-batches-table.js";
import type { StatusOptions } from "../options/batch-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { note } from "../terminal/note.js";
import { notifyOf } from "../terminal/notices.js";
import { tableLook } from "../terminal/table-look.js";

export async function showAllBatches(options: StatusOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  if (surroundings.stateDir === null)
    throw new UserError("batches of other directories are not known: another account could change the list", {
      hint: "chmod 700 ~/.local/state, or set XDG_STATE_HOME to a directory of your own",
    });
  // Asking for passphrases of machines that other directories use would be a surprise.
  const { fleet } = lastingConnector(surroundings, options, note, false);
  const connect: Connector = async (machine, signal) => (await fleet.borrow(machine, signal)).session;
  const { batches, loaded } = await findAllBatches(surroundings, connect);
  for (const each of unreachedNotes(batches)) note(`WARNING: ${each}`);
  if (batches.length === 0)
    note("no batch of yours is known here; any command of sshoal where one was run makes it known");
  const look = { ...tableLook(), homeDir: surroundings.homeDir, now: Date.now() };
  const lines = options.isJson ? allBatchesJson(batches) : allBatchesLines(batches, look);
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  await notifyOf(loaded, surroundings);
  return ExitCode.Success;
}
