// Every link of the pages leads to a file and a heading that exist, in the clone and in the npm package.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { anchors, links, pagePaths, readPage } from "../../rig/markdown.js";

/** Pages that are not written yet. */
const MISSING: readonly string[] = [];

const { files } = JSON.parse(readFileSync("package.json", "utf8")) as { files: string[] };

/** npm ships these whatever `files` says. */
const ALWAYS = ["package.json", "README.md", "LICENSE"];

function isShipped(path: string): boolean {
  return ALWAYS.includes(path) || files.some((entry) => path === entry || path.startsWith(`${entry}/`));
}

/** Null: the link is fine. */
function mistakeOf(from: string, target: string): string | null {
  if (/^https?:/.test(target)) return null;
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? from : join(dirname(from), path).replace(/\/$/, "");
  if (MISSING.includes(file)) return null;
  if (file.startsWith("..") || path.startsWith("/")) return "leads out of the repository";
  if (!existsSync(file)) return "leads to no file";
  if (isShipped(from) && !isShipped(file)) return "leads to a file that the package does not ship";
  if (anchor !== undefined && !anchors(readPage(file)).has(anchor)) return "leads to no heading";
  return null;
}

/** Files of the clone that a page names in code. */
function namedFiles(page: string): string[] {
  return [...readPage(page).matchAll(/`((?:src|test|bench|example|machines)\/[\w./-]+)`/g)].map(
    ([, path = ""]) => path,
  );
}

describe.each([...pagePaths(), "CHANGELOG.md"])("%s", (page) => {
  test("every file that it names is there", () => {
    const named = page === "CHANGELOG.md" ? [] : namedFiles(page);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });

  test("every link leads somewhere", () => {
    const mistakes = links(readPage(page)).flatMap(({ target, line }) => {
      const mistake = mistakeOf(page, target);
      return mistake === null ? [] : [`${page}:${line}: ${target} ${mistake}`];
    });
    expect(mistakes).toEqual([]);
  });
});

test("a page that names files is read for them", () => {
  expect(namedFiles("docs/notes.md")).toContain("src/plan/decide.ts");
});

test("a link that is wrong in any way is found", () => {
  expect(mistakeOf("docs/slot.md", "nowhere.md")).toBe("leads to no file");
  expect(mistakeOf("docs/slot.md", "#nowhere")).toBe("leads to no heading");
  expect(mistakeOf("docs/slot.md", "../../elsewhere.md")).toBe("leads out of the repository");
  expect(mistakeOf("README.md", "/etc/passwd")).toBe("leads out of the repository");
  expect(mistakeOf("README.md", "tsconfig.json")).toBe("leads to a file that the package does not ship");
  expect(mistakeOf("docs/slot.md", "slot.md#the-files")).toBeNull();
});

test("the pages that are missing are not there yet", () => {
  expect(MISSING.filter((path) => existsSync(path))).toEqual([]);
});

test("docs/README.md has one line for every page of docs/", () => {
  const named = links(readPage("docs/README.md")).map(({ target }) => target);
  const pages = readdirSync("docs").filter((name) => name.endsWith(".md") && name !== "README.md");
  expect(named.filter((name) => pages.includes(name)).sort()).toEqual(pages.sort());
});

test("the README shows a picture that the package ships, and links to the index of the pages", () => {
  const targets = links(readPage("README.md")).map(({ target }) => target);
  expect(targets).toEqual(expect.arrayContaining(["docs/live-view.svg", "docs/README.md"]));
  expect(isShipped("docs/live-view.svg")).toBe(true);
});

test("the README has at most 200 lines", () => {
  expect(readPage("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(200);
});
