import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Redrawn } from "../../../../src/report/live/redrawn.js";
import { Screen } from "../screen.js";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

function open() {
  const screen = new Screen(40, 10);
  const facts = { text: "first", above: [] as string[] };
  const takeAbove = () => facts.above.splice(0);
  const view = new Redrawn({
    stream: screen,
    now: Date.now,
    draw: () => ({ lines: [facts.text, "keys"], above: takeAbove() }),
    drawHidden: () => ({ lines: [], above: takeAbove() }),
    drawLast: () => ({ lines: [`last ${facts.text}`] }),
  });
  view.draw();
  const shown = () => screen.lines.filter((line) => line !== "");
  return { facts, view, shown };
}

test("a change is drawn at the next tick, in place, and what is above stays", () => {
  const { facts, view, shown } = open();
  expect(shown()).toEqual(["first", "keys"]);
  Object.assign(facts, { text: "second", above: ["note"] });
  view.change();
  expect(shown()).toEqual(["first", "keys"]);
  vi.advanceTimersByTime(200);
  expect(shown()).toEqual(["note", "second", "keys"]);
  view.close();
});

test("without a change it is drawn again after a second, because times grow", () => {
  const { facts, view, shown } = open();
  facts.text = "later";
  vi.advanceTimersByTime(800);
  expect(shown()).toEqual(["first", "keys"]);
  vi.advanceTimersByTime(400);
  expect(shown()).toEqual(["later", "keys"]);
  view.close();
});

test("a hidden view draws nothing until it is shown again", () => {
  const { facts, view, shown } = open();
  view.hide(true);
  expect(shown()).toEqual([]);
  facts.text = "second";
  view.change();
  vi.advanceTimersByTime(2000);
  expect(shown()).toEqual([]);
  view.hide(false);
  expect(shown()).toEqual(["second", "keys"]);
  view.close();
});

test("closing leaves the last drawing, and nothing is drawn after it", () => {
  const { view, shown } = open();
  view.close();
  view.change();
  view.draw();
  vi.advanceTimersByTime(2000);
  expect(shown()).toEqual(["last first"]);
  expect(vi.getTimerCount()).toBe(0);
});
