// What `sshoal config` prints: files, what they set, and where.

import { tildePath } from "../text/tilde-path.js";
import { wrap } from "../text/wrap.js";

/** Where a value is written. */
interface Origin {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface ShownConfig {
  readonly files: readonly {
    readonly level: "user" | "project";
    readonly path: string;
    readonly isThere: boolean;
  }[];
  /** Null: every command that has the option. */
  readonly settings: readonly {
    readonly command: string | null;
    readonly key: string;
    readonly words: readonly string[];
    readonly origin: Origin;
  }[];
  readonly groups: readonly {
    readonly name: string;
    readonly machines: readonly string[];
    readonly origin: Origin;
  }[];
}

export interface ConfigLook {
  readonly homeDir: string;
  /** Of the terminal; a pipe has any number. */
  readonly columns: number;
}

/** `command`: whose settings they are; null: of all commands. */
export function configLines(shown: ShownConfig, command: string | null, look: ConfigLook): string[] {
  const { settings, groups } = shown;
  const files = shown.files.map((file) => ({ ...file, path: tildePath(file.path, look.homeDir) }));
  const [user] = files;
  const lines = table(files.map(fileRow));
  if (user !== undefined && files.every(({ isThere }) => !isThere)) return [...lines, "", ...beginning(user)];
  const owners = [...new Set(settings.map((each) => (command === null ? each.command : command)))];
  for (const owner of owners) {
    const own = settings.filter((each) => command !== null || each.command === owner);
    const rows = own.map(({ key, words, origin }) => ({ key, value: words.join(" ") || "(none)", origin }));
    lines.push("", owner === null ? "every command that has the option:" : `sshoal ${owner}:`);
    lines.push(...valueTable(rows, look));
  }
  if (settings.length === 0)
    lines.push("", `nothing is set${command === null ? "" : ` for sshoal ${command}`}`);
  if (groups.length === 0) return lines;
  const rows = groups.map(({ name, machines, origin }) => ({
    key: `@${name}`,
    value: machines.join(" "),
    origin,
  }));
  return [...lines, "", "groups:", ...valueTable(rows, look)];
}

export function configJson({ files, settings, groups }: ShownConfig): string {
  return JSON.stringify({
    v: 1,
    kind: "config",
    files: files.map(({ level, path, isThere }) => ({ level, path, found: isThere })),
    settings: settings.map(({ command, key, words, origin }) => ({ command, key, value: words, ...origin })),
    groups: groups.map(({ name, machines, origin }) => ({ name, machines, ...origin })),
  });
}

function fileRow({ level, path, isThere }: ShownConfig["files"][number]): string[] {
  const place = level === "project" ? `${path}, or in a directory above` : path;
  return [`${level} file`, isThere ? path : `none (${place})`];
}

function beginning({ path }: ShownConfig["files"][number]): string[] {
  return [
    "nothing is set; to begin, write a file with lines such as",
    "  machines: [gpu1, gpu2]",
    "  memory-required: 4GB",
    `to ${path}`,
  ];
}

interface ValueRow {
  readonly key: string;
  readonly value: string;
  readonly origin: Origin;
}

/** A value that does not fit continues below itself. */
function valueTable(rows: readonly ValueRow[], { homeDir, columns }: ConfigLook): string[] {
  const origins = rows.map(({ origin }) => `${tildePath(origin.file, homeDir)}:${origin.line}`);
  const widest = (cells: readonly string[]) => Math.max(0, ...cells.map(({ length }) => length));
  const room = columns - widest(rows.map(({ key }) => key)) - widest(origins) - "  ".length * 3;
  const cells = rows.flatMap(({ key, value }, index) => {
    const [first = value, ...rest] = value.length > room ? wrap(value, room) : [value];
    return [[key, first, origins[index] ?? ""], ...rest.map((more) => ["", more, ""])];
  });
  return table(cells).map((line) => line.trimEnd());
}

/** In columns, except for the last one. */
function table(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(0, ...rows.map(({ length }) => length));
  const widths = Array.from({ length: columns - 1 }, (_, index) =>
    Math.max(...rows.map((row) => row[index]?.length ?? 0)),
  );
  return rows.map((row) => `  ${row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  ")}`);
}
