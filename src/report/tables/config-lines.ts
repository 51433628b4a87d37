// What `sshoal config` prints: files, what they set, and where.

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

/** `command`: whose settings they are; null: of all commands. */
export function configLines({ files, settings, groups }: ShownConfig, command: string | null): string[] {
  const [user] = files;
  const lines = table(files.map(fileRow));
  if (user !== undefined && files.every(({ isThere }) => !isThere)) return [...lines, "", ...beginning(user)];
  const owners = [...new Set(settings.map((each) => (command === null ? each.command : command)))];
  for (const owner of owners) {
    const own = settings.filter((each) => command !== null || each.command === owner);
    const rows = own.map(({ key, words, origin }) => [
      key,
      words.join(" ") || "(none)",
      formatOrigin(origin),
    ]);
    lines.push("", owner === null ? "every command that has the option:" : `sshoal ${owner}:`);
    lines.push(...table(rows));
  }
  if (settings.length === 0)
    lines.push("", `nothing is set${command === null ? "" : ` for sshoal ${command}`}`);
  if (groups.length === 0) return lines;
  const rows = groups.map(({ name, machines, origin }) => [
    `@${name}`,
    machines.join(" "),
    formatOrigin(origin),
  ]);
  return [...lines, "", "groups:", ...table(rows)];
}

export function configJson({ files, settings, groups }: ShownConfig): string {
  return JSON.stringify({
    v: 1,
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

function formatOrigin({ file, line }: Origin): string {
  return `${file}:${line}`;
}

/** In columns, except for the last one. */
function table(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(0, ...rows.map(({ length }) => length));
  const widths = Array.from({ length: columns - 1 }, (_, index) =>
    Math.max(...rows.map((row) => row[index]?.length ?? 0)),
  );
  return rows.map((row) => `  ${row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  ")}`);
}
