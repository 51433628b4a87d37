// `sshoal clean`: lists what batches left on machines, and removes what is no longer needed.

import { type CleanedPlace, cleanPlaces, placesOf, wishesFor } from "../../batch/clean/clean-places.js";
import { hintAtNames, loadAnyBatches } from "../../batch/find/batches-here.js";
import { machinesFor } from "../../batch/surroundings.js";
import { ExitCode, UserError } from "../../errors.js";
import type { Verdict } from "../../plan/what-to-clean.js";
import type { Removed } from "../../remote/spool/leftovers.js";
import { formatLeftOverJson } from "../../report/tables/left-over-json.js";
import { type CleanedMachine, formatLeftOver, type LeftRow } from "../../report/tables/left-over-table.js";
import { printable } from "../../report/text/printable.js";
import { Results } from "../../run/home/results.js";
import { quoteIfNeeded } from "../../transport/quote.js";
import type { CleanOptions } from "../options/batch-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { connector } from "../terminal/connectors.js";
import { note } from "../terminal/note.js";

export async function cleanMachines(options: CleanOptions): Promise<ExitCode> {
  const { machines, batches, isDryRun } = options;
  const surroundings = readSurroundings();
  const here = loadAnyBatches(new Results(surroundings.cwd));
  const places = machines.length > 0 ? await machinesFor(options, surroundings) : placesOf(here);
  const wishes = wishesFor(batches, here);
  const connect = connector(surroundings, options, note);
  const looks = await cleanPlaces({ places, wishes, isDryRun, connect });
  const format = options.isJson ? formatLeftOverJson : formatLeftOver;
  process.stdout.write(format(looks.map(toTable), process.stdout.columns || 80));
  for (const { machine, path } of looks.flatMap(stuckOn))
    note(`${machine}: no permission to remove all files that jobs left: sudo rm -r ${quoteIfNeeded(path)}`);
  complainAboutNames(looks, wishes.named);
  return looks.some(({ reached }) => reached.kind === "reached") ? ExitCode.Success : ExitCode.NoMachine;
}

function toTable({ machine, reached }: CleanedPlace): CleanedMachine {
  if (reached.kind === "unreached")
    return { kind: "failed", machine, reason: reached.reason, hint: reached.hint };
  const { plan, removed } = reached.answer;
  const rows = [
    ...plan.batches.map(({ batch: { name, bytes }, verdict }): LeftRow => {
      const became = removed && (removed.get(`batch ${name}`) ?? "removed");
      return { what: "batch", name, bytes, ageSeconds: null, ...endOf(verdict, became) };
    }),
    ...plan.trees.map(({ tree: { name, bytes, ageSeconds }, verdict }): LeftRow => {
      const became = removed && (removed.get(`tree ${name}`) ?? "removed");
      return { what: "tree", name, bytes, ageSeconds, ...endOf(verdict, became) };
    }),
  ];
  return { kind: "looked", machine, rows };
}

function stuckOn({ machine, reached }: CleanedPlace): { machine: string; path: string }[] {
  const removed = reached.kind === "reached" ? reached.answer.removed : null;
  return [...(removed?.values() ?? [])].flatMap((each) =>
    typeof each === "string" ? [] : [{ machine, path: each.stuckAt }],
  );
}

/** `became`: the machine's answer; null: it was not asked. */
function endOf(verdict: Verdict, became: Removed | null): Pick<LeftRow, "end" | "reason"> {
  if (verdict.kind !== "remove") return { end: "kept", reason: verdict.reason };
  if (became === null) return { end: "would be removed", reason: null };
  if (became === "kept") return { end: "kept", reason: "in use by now" };
  return { end: became === "removed" ? "removed" : "could not be removed", reason: null };
}

/** Called after the table, which shows what was done anyway. */
function complainAboutNames(looks: readonly CleanedPlace[], named: ReadonlySet<string>): void {
  const found = looks.flatMap(({ machine, reached }) =>
    reached.kind === "reached" ? reached.answer.plan.batches.map((each) => ({ machine, ...each })) : [],
  );
  for (const { machine, batch, verdict } of found) {
    if (verdict.kind === "refuse")
      throw new UserError(`${batch.name} stays on ${printable(machine)}: ${printable(verdict.reason)}`, {
        hint: `sshoal stop ${batch.name}`,
      });
  }
  const names = new Set(found.map(({ batch }) => batch.name));
  for (const name of named) {
    if (names.has(name) || looks.some(({ reached }) => reached.kind === "unreached")) continue;
    throw new UserError(`no batch ${name} is left on ${looks.map(({ machine }) => machine).join(", ")}`, {
      hint: names.size === 0 ? "sshoal clean lists the batches" : hintAtNames(name, [...names]),
    });
  }
}
