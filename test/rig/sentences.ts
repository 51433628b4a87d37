// Cuts a Markdown page into sentences, so that a test can count their words.

import { proseLines, withoutCode } from "./markdown.js";

export interface Sentence {
  readonly text: string;
  /** Where its paragraph, list item or table row begins. */
  readonly line: number;
}

export function sentencesOf(page: string): Sentence[] {
  return paragraphsOf(page).flatMap(({ text, line }) =>
    partsOf(text).map((part) => ({ text: part.trim(), line })),
  );
}

export function wordCount(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

interface Paragraph {
  text: string;
  readonly line: number;
}

/** A list item and a table row are paragraphs of their own. */
function paragraphsOf(page: string): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let isOpen = false;
  for (const { text, number } of proseLines(page)) {
    const beginsAnew = /^\s*([-*] |\d+\. |\||#|!\[|<!--)/.test(text);
    if (text.trim() === "") isOpen = false;
    else if (isOpen && !beginsAnew) (paragraphs.at(-1) as Paragraph).text += ` ${text.trim()}`;
    else {
      paragraphs.push({ text: text.trim(), line: number });
      isOpen = !/^\s*(\||#)/.test(text);
    }
  }
  return paragraphs;
}

/** A cell of a table may hold several notes, with semicolons between them. A list of words in code counts as one word. */
function partsOf(paragraph: string): string[] {
  const text = withoutCode(paragraph)
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/code(,? (and |or )?code)+/g, "code");
  return text.startsWith("|") ? text.split(/\||;|[.?!:](?=\s|$)/) : text.split(/(?<=[.?!])[)*"]*(?=\s|$)/);
}
