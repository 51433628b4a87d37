import { expect, test } from "vitest";
import {
  formatAge,
  formatBytes,
  formatDuration,
  formatRoughDuration,
} from "../../../../src/report/text/amounts.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

test.each([
  [-5, "0s"],
  [999, "0s"],
  [45 * SECOND, "45s"],
  [3 * MINUTE + 5 * SECOND, "3m05s"],
  [2 * HOUR + 7 * MINUTE, "2h07m"],
  [76 * HOUR, "3d04h"],
])("%i ms is %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [1, "5s"],
  [18 * SECOND, "20s"],
  [8 * MINUTE + 12 * SECOND, "8m"],
  [2 * HOUR + 7 * MINUTE, "2h10m"],
])("%i ms is roughly %s", (ms, text) => {
  expect(formatRoughDuration(ms)).toBe(text);
});

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [999_600, "1.0 MB"],
  [12_345_678, "12.3 MB"],
  [140e9, "140 GB"],
])("%i bytes are %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  [45 * SECOND, "45s"],
  [4 * MINUTE + 59 * SECOND, "4m"],
  [2 * HOUR + 7 * MINUTE, "2h07m"],
])("%d ms have passed: %s", (ms, text) => expect(formatAge(ms)).toBe(text));
