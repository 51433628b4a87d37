import { expect, test } from "vitest";
import { abilitiesOf } from "../../../../src/report/live/abilities.js";

const TERMINAL = { isTTY: true, columns: 80, rows: 24 };
const ENV = { TERM: "xterm-256color", LANG: "en_GB.UTF-8" };

test("a usual terminal can do everything", () => {
  const abilities = { canRedraw: true, useColour: true, useUnicode: true };
  expect(abilitiesOf({ ...TERMINAL, env: ENV })).toEqual(abilities);
});

test("NO_COLOR removes colours, but only if it is not empty", () => {
  expect(abilitiesOf({ ...TERMINAL, env: { ...ENV, NO_COLOR: "1" } }).useColour).toBe(false);
  expect(abilitiesOf({ ...TERMINAL, env: { ...ENV, NO_COLOR: "" } }).useColour).toBe(true);
});

test.each([
  ["a pipe", { ...TERMINAL, isTTY: false, env: ENV }],
  ["a dumb terminal", { ...TERMINAL, env: { ...ENV, TERM: "dumb" } }],
  ["a terminal of unknown kind", { ...TERMINAL, env: { LANG: "C.UTF-8" } }],
  ["a terminal without size", { isTTY: true, columns: 0, rows: 0, env: ENV }],
])("%s is not redrawn", (_, facts) => {
  expect(abilitiesOf(facts).canRedraw).toBe(false);
});

test.each([
  [{ LANG: "C" }, false],
  [{}, false],
  [{ LANG: "de_DE.utf8" }, true],
  [{ LANG: "de_DE.UTF-8", LC_ALL: "C" }, false],
  [{ LANG: "C", LC_CTYPE: "C.UTF-8" }, true],
])("the locale %j allows Unicode: %s", (env, useUnicode) => {
  expect(abilitiesOf({ ...TERMINAL, env: { TERM: "xterm", ...env } }).useUnicode).toBe(useUnicode);
});
