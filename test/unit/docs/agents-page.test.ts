// docs/agents.md has every tool of `sshoal mcp` with every argument, and no others. `tools/list` answers with the same texts.

import { expect, test } from "vitest";
import { TOOLS } from "../../../src/mcp/all-tools.js";
import { ANSWER_BYTES } from "../../../src/mcp/answer/answer-text.js";
import { LONGEST_LINE, MOST_STREAMS } from "../../../src/mcp/answer/log-window.js";
import { ONE_ROW_BYTES, ROW_BYTES } from "../../../src/mcp/answer/row-window.js";
import { MOST_CURSORS } from "../../../src/mcp/call/seen.js";
import { readPage } from "../../rig/markdown.js";

const [, PART = ""] = readPage("docs/agents.md").split("\n## Tools for agents: sshoal mcp\n");
const sections = new Map(
  PART.split(/^### /m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf("\n")), text]),
);
const shared = rowsOf("Arguments of several tools");

/** The meanings of arguments, by name. */
function rowsOf(title: string): Map<string, string> {
  const rows = [...(sections.get(title) ?? "").matchAll(/^\| `(\w+)` \| (.*) \|$/gm)];
  return new Map(rows.map(([, name = "", meaning = ""]) => [name, meaning.replaceAll("\\|", "|")]));
}

test("every tool has a section, in the order of the list, and no other tool has one", () => {
  const names = TOOLS.map(({ name }) => name);
  expect([...sections.keys()].filter((title) => /^[a-z]+$/.test(title))).toEqual(names);
});

test.each(TOOLS.map((tool) => [tool.name, tool] as const))(
  "%s has exactly its arguments",
  (name, { inputSchema }) => {
    const [, line = ""] = /^Shared: (.*)$/m.exec(sections.get(name) ?? "") ?? [];
    const taken = [...line.matchAll(/`(\w+)`/g)].map(([, each = ""]) => [each, shared.get(each)] as const);
    const properties = inputSchema.properties as Record<string, { description: string }>;
    const defined = Object.entries(properties).map(([each, { description }]) => [each, description] as const);
    expect(new Map([...rowsOf(name), ...taken])).toEqual(new Map(defined));
  },
);

test("the page has the bounds of answers", () => {
  const numbers = [ANSWER_BYTES, ROW_BYTES, ONE_ROW_BYTES].map((bytes) => bytes.toLocaleString("en"));
  for (const bound of [...numbers, `more than ${LONGEST_LINE} characters`, `${MOST_STREAMS} streams`])
    expect(PART).toContain(bound);
  expect(PART).toContain(`after ${MOST_CURSORS} newer ones`);
});
