// Reads what tests need of a Markdown page: its anchors, its links and its code blocks.

import { readdirSync, readFileSync } from "node:fs";

export interface CodeBlock {
  /** The words after the opening fence: `sh runnable exit=1`. */
  readonly info: readonly string[];
  readonly text: string;
  /** Of the opening fence, from 1. */
  readonly line: number;
}

export interface Link {
  readonly target: string;
  readonly line: number;
}

interface Line {
  readonly text: string;
  readonly number: number;
}

/** README.md, CONTRIBUTING.md and every page under docs/. */
export function pagePaths(): string[] {
  const pages = readdirSync("docs").filter((name) => name.endsWith(".md"));
  return ["README.md", "CONTRIBUTING.md", ...pages.sort().map((name) => `docs/${name}`)];
}

export function readPage(path: string): string {
  return readFileSync(path, "utf8");
}

export function codeBlocks(page: string): CodeBlock[] {
  const blocks: { info: string[]; lines: string[]; line: number }[] = [];
  let isOpen = false;
  for (const [index, text] of page.split("\n").entries()) {
    const fence = /^ *```(.*)$/.exec(text);
    if (fence === null) {
      if (isOpen) blocks.at(-1)?.lines.push(text);
      continue;
    }
    isOpen = !isOpen;
    if (isOpen) blocks.push({ info: (fence[1] ?? "").split(" "), lines: [], line: index + 1 });
  }
  return blocks.map(({ info, lines, line }) => ({
    info,
    line,
    text: lines.map((each) => `${each}\n`).join(""),
  }));
}

function outsideFences(page: string): Line[] {
  let isCode = false;
  return page.split("\n").flatMap((text, index) => {
    const isFence = /^ *```/.test(text);
    if (isFence) isCode = !isCode;
    return isFence || isCode ? [] : [{ text, number: index + 1 }];
  });
}

/** The lines that are neither in a fence nor indented as code. */
export function proseLines(page: string): Line[] {
  return outsideFences(page).filter(({ text }) => !/^ {4,}/.test(text));
}

/** `[text](target)` and `![text](target)`, and no other form. */
export function links(page: string): Link[] {
  return outsideFences(page).flatMap(({ text, number }) =>
    [...withoutCode(text).matchAll(/\]\(([^)\s]*)\)/g)].map(([, target = ""]) => ({ target, line: number })),
  );
}

export function withoutCode(text: string): string {
  return text.replaceAll(/`[^`]*`/g, "code");
}

/** The anchors of its headings, as GitHub makes them. */
export function anchors(page: string): Set<string> {
  const found = new Set<string>();
  for (const { text } of proseLines(page)) {
    const [, heading] = /^#{1,6} (.*)$/.exec(text) ?? [];
    if (heading === undefined) continue;
    const slug = slugOf(heading);
    const isTaken = (number: number) => found.has(number === 0 ? slug : `${slug}-${number}`);
    let number = 0;
    while (isTaken(number)) number += 1;
    found.add(number === 0 ? slug : `${slug}-${number}`);
  }
  return found;
}

function slugOf(heading: string): string {
  const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
  return words.replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}
