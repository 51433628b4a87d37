// Which processes are on which card, by nvidia-smi and /proc.

import type { CardHolder } from "../../model/machine.js";
import { claimPids } from "./parse-claims.js";
import { CARD_UUID, cleanText, type Facts, factsOf, parseNumber } from "./probe-facts.js";

/** Undefined for a card: it is not known who uses it. */
export type HoldersOf = (uuid: string) => readonly CardHolder[] | undefined;

export function parseHolders(facts: Facts): HoldersOf {
  const lines = factsOf(facts, "smi-process").filter((line) => line.trim() !== "");
  const rows = lines.map(parseRow);
  const warnings = new Set(factsOf(facts, "smi"));
  const isAnswer = lines.every((line, index) => rows[index] !== null || warnings.has(line));
  const isKnown = facts.has("smi-process") && isAnswer;
  const claimed = claimPids(facts);
  const processes = new Map(
    factsOf(facts, "process")
      .map(parseProcess)
      .map((each) => [each.pid, each]),
  );
  const byCard = new Map<string, CardHolder[]>();
  for (const row of rows.filter((each) => each !== null)) {
    const { user = "", program = row.program, lineage = [] } = processes.get(row.pid) ?? {};
    const isClaimed = lineage.some((pid) => claimed.has(pid));
    const holder = { pid: row.pid, user, program, memoryMb: row.memoryMb, isClaimed };
    byCard.set(row.uuid, [...(byCard.get(row.uuid) ?? []), holder]);
  }
  return (uuid) => byCard.get(uuid) ?? (isKnown ? [] : undefined);
}

const DEVICE = new RegExp(String.raw`^(?:${CARD_UUID}|MIG-[\w/-]{1,96})$`);

/** `<uuid>, <pid>, <MiB>, <path of the program>`. A row of which nothing else can be read is still a process. */
function parseRow(
  line: string,
): { uuid: string; pid: number; memoryMb: number | null; program: string } | null {
  const [uuid = "", pid, memory, ...path] = line.split(",").map((word) => word.trim());
  if (pid === undefined || !DEVICE.test(uuid)) return null;
  const program = path.join(", ");
  return {
    uuid,
    pid: parseNumber(pid, 2 ** 31) ?? 0,
    memoryMb: parseNumber(memory),
    program: /^(\[.*\]|-)$/.test(program) ? "" : cleanText(program.replace(/^.*\//, "")),
  };
}

/** `<pid> <user> <uid> <groups and sessions of it and its ancestors> <name>` */
function parseProcess(line: string): { pid: number; user: string; program: string; lineage: string[] } {
  const [pid, user = "", uid = "", lineage = "", ...name] = line.split(" ");
  return {
    pid: parseNumber(pid, 2 ** 31) ?? 0,
    user: cleanText(user === "UNKNOWN" ? uid : user),
    program: cleanText(name.join(" ")),
    lineage: lineage.split(","),
  };
}
