// Parses YAML into a tree of plain values with their positions. Every scalar stays text (the failsafe schema): 1e-4 is
// not 0.0001, 010 is not 10, `no` is not false.

import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  visit,
} from "yaml";
import type { Mistake, PositionOf } from "../mistake.js";
import { describeSyntax, type FileHints } from "./yaml-syntax.js";

export type Value = { readonly offset: number } & (
  | { readonly kind: "nothing" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly Value[] }
  | { readonly kind: "map"; readonly entries: readonly Entry[] }
);
export type YamlMap = Extract<Value, { kind: "map" }>;

interface Entry {
  readonly key: Value;
  readonly value: Value;
}

export interface YamlTree {
  /** Null: because of the mistakes there is nothing to read. */
  readonly root: YamlMap | null;
  readonly mistakes: readonly Mistake[];
  readonly positionOf: PositionOf;
}

export function parseYamlTree(text: string, hints: FileHints): YamlTree {
  const lineCounter = new LineCounter();
  // Repeated keys are left to readFields, which finds all mistakes of keys.
  const document = parseDocument(text, {
    schema: "failsafe",
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter,
  });
  const positionOf: PositionOf = (offset) => {
    // The counter has no first line in an empty text.
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const broken = [
    ...[...document.errors, ...document.warnings].map((error) => describeSyntax(error, hints)),
    ...findAliases(document),
  ];
  if (broken.length > 0) return { root: null, mistakes: firstOfEachLine(broken, positionOf), positionOf };
  const root = toValue(document.contents, 0);
  if (root.kind === "map") return { root, mistakes: [], positionOf };
  return { root: null, mistakes: [describeWrongRoot(root, hints)], positionOf };
}

/** Aliases are refused: short values do not need them, and nested ones can grow without limit. */
function findAliases(document: Document.Parsed): Mistake[] {
  if (document.errors.length > 0) return [];
  const mistakes: Mistake[] = [];
  visit(document, {
    Alias(_, { source, range }) {
      const message = `"*${source}" refers to another value, which is not supported here`;
      mistakes.push({ offset: range?.[0] ?? 0, message, hint: "quote it, or write the value out" });
    },
  });
  return mistakes;
}

/** One slip often causes two errors of the parser. */
function firstOfEachLine(mistakes: readonly Mistake[], positionOf: PositionOf): Mistake[] {
  const byLine = new Map<number, Mistake>();
  for (const mistake of mistakes) {
    const { line } = positionOf(mistake.offset);
    if (!byLine.has(line)) byLine.set(line, mistake);
  }
  return [...byLine.values()];
}

function toValue(node: ParsedNode | null, offsetIfMissing: number): Value {
  const offset = node?.range[0] ?? offsetIfMissing;
  if (isMap<ParsedNode, ParsedNode | null>(node)) {
    const entries = node.items.map(({ key, value }) => {
      const keyValue = toValue(key, offset);
      return { key: keyValue, value: toValue(value, keyValue.offset) };
    });
    return { kind: "map", offset, entries };
  }
  if (isSeq<ParsedNode>(node)) {
    return { kind: "list", offset, items: node.items.map((item) => toValue(item, offset)) };
  }
  if (!isScalar(node) || (node.type === "PLAIN" && node.source === "")) return { kind: "nothing", offset };
  return { kind: "text", offset, text: node.source };
}

function describeWrongRoot(root: Value, hints: FileHints): Mistake {
  const message =
    root.kind === "nothing" ? "the file has no content" : "expected lines of the form key: value";
  return { offset: root.offset, message, hint: hints.empty };
}
