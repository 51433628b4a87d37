// A place in a configuration file.

/** Line and column count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export function formatPlace({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`;
}
