// The processes on cards, by nvidia-smi and /proc.

import { CARD_UUID, cleanText, type Facts, factsOf, parseNumber } from "./probe-facts.js";

export interface CardProcess {
  readonly uuid: string;
  /** 0: not known. */
  readonly pid: number;
  /** "", here and below: not known. */
  readonly user: string;
  readonly program: string;
  readonly memoryMb: number | null;
  /** The groups and sessions of the process and its ancestors. */
  readonly lineage: readonly string[];
  readonly isOwn?: true;
}

/** Null: nvidia-smi was not asked, or its answer has other lines. */
export function cardProcesses(facts: Facts): CardProcess[] | null {
  const lines = factsOf(facts, "smi-process").filter((line) => line.trim() !== "");
  const warnings = new Set(factsOf(facts, "smi"));
  const isAnswer = lines.every((line) => parseRow(line) !== null || warnings.has(line));
  return facts.has("smi-process") && isAnswer ? seenProcesses(facts) : null;
}

/** Those in lines that can be read. */
export function seenProcesses(facts: Facts): CardProcess[] {
  const processes = new Map(
    factsOf(facts, "process")
      .map(parseProcess)
      .map((each) => [each.pid, each]),
  );
  const own = new Set(factsOf(facts, "own-process").map((pid) => parseNumber(pid, 2 ** 31)));
  return factsOf(facts, "smi-process").flatMap((line) => {
    const row = parseRow(line);
    if (row === null) return [];
    const { user = "", program = row.program, lineage = [] } = processes.get(row.pid) ?? {};
    return [{ ...row, user, program, lineage, ...(own.has(row.pid) && { isOwn: true as const }) }];
  });
}

const DEVICE = new RegExp(String.raw`^(?:${CARD_UUID}|MIG-[\w/-]{1,96})$`);

/** `<uuid>, <pid>, <MiB>, <path of the program>`. A row of which nothing else can be read is still a process. */
function parseRow(line: string): Pick<CardProcess, "uuid" | "pid" | "memoryMb" | "program"> | null {
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
function parseProcess(line: string): Pick<CardProcess, "pid" | "user" | "program" | "lineage"> {
  const [pid, user = "", uid = "", lineage = "", ...name] = line.split(" ");
  return {
    pid: parseNumber(pid, 2 ** 31) ?? 0,
    user: cleanText(user === "UNKNOWN" ? uid : user),
    program: cleanText(name.join(" ")),
    lineage: lineage.split(","),
  };
}
