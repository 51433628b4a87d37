// Renames results so that a kill at any moment loses nothing. All of them move aside first, and to their new names
// after the last one has. The record lists them before the first one moves.

import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import path from "node:path";
import { UserError } from "../../errors.js";
import type { FileMove, ScriptEdit } from "../../model/script-edit.js";
import { ENDINGS } from "../../plan/edit/file-moves.js";
import type { Results } from "./results.js";
import { syncDirectory } from "./sync-directory.js";

/** Continues where an earlier client was killed. Afterwards, record that it is done, then call endMoving(). */
export function moveResults(results: Results, stem: string, edit: ScriptEdit): void {
  results.forgetNumbers();
  const { gathering, placing } = placesOf(results, stem);
  if (!existsSync(placing)) {
    mkdirSync(gathering, { recursive: true, mode: 0o700 });
    for (const [from, to] of filesOf(edit)) gather(path.join(results.dir, from), path.join(gathering, to));
    for (const dir of [results.dir, gathering]) syncDirectory(dir);
    renameSync(gathering, placing);
    syncDirectory(results.privateDir);
  }
  for (const name of readdirSync(placing)) place(path.join(placing, name), path.join(results.dir, name));
  for (const dir of [placing, results.dir]) syncDirectory(dir);
}

/** While the empty directory exists, a client whose record lacks the end of the move does not move again. */
export function endMoving(results: Results, stem: string): void {
  const { placing } = placesOf(results, stem);
  if (existsSync(placing)) rmdirSync(placing);
}

function placesOf({ privateDir }: Results, stem: string): { gathering: string; placing: string } {
  return {
    gathering: path.join(privateDir, `${stem}.gathering`),
    placing: path.join(privateDir, `${stem}.placing`),
  };
}

function filesOf({ moves, files }: ScriptEdit): FileMove[] {
  const main = moves.flatMap(({ from, to }) =>
    ENDINGS.map((ending): FileMove => [from + ending, to + ending]),
  );
  return [...main, ...files];
}

function gather(from: string, to: string): void {
  if (existsSync(from) && !existsSync(to)) renameSync(from, to);
}

function place(from: string, to: string): void {
  if (existsSync(to)) {
    throw new UserError(`${to} exists, so results cannot be renamed to it`, {
      hint: `move it elsewhere, then type the same command again; the results are in ${path.dirname(from)}`,
    });
  }
  renameSync(from, to);
}
