import { expect, test } from "vitest";
import { parseDistribution } from "../../../../src/input/sweep/sweep-distribution.js";

test.each([
  ["log:1e-5..1e-1", { kind: "log", low: 1e-5, high: 0.1 }],
  ["uniform:0..1", { kind: "uniform", low: 0, high: 1 }],
  ["uniform:-1.5...5", { kind: "uniform", low: -1.5, high: 0.5 }],
  ["int:-1..10", { kind: "int", low: -1, high: 10 }],
  ["normal:0,1", { kind: "normal", mean: 0, deviation: 1 }],
  ["normal:-1e3, 0.5", { kind: "normal", mean: -1000, deviation: 0.5 }],
])("%s", (text, distribution) => expect(parseDistribution(text)).toEqual({ distribution }));

test.each([
  ["log:0..1", '"log:0..1" needs ends above 0', "such as log:1e-5..1e-1"],
  ["log:1", '"log:1" needs two numbers', "such as log:1e-5..1e-1"],
  ["uniform:1..0", '"uniform:1..0" needs the smaller end first', "such as uniform:0..1"],
  ["uniform:0..x", '"uniform:0..x" needs two numbers', "such as uniform:0..1"],
  ["uniform:-1e308..1e308", '"uniform:-1e308..1e308" needs the smaller end first', "such as uniform:0..1"],
  ["int:0..1.5", '"int:0..1.5" needs whole numbers', "such as int:1..10"],
  ["normal:1", '"normal:1" needs two numbers', "such as normal:0,1"],
  ["normal:1,0", '"normal:1,0" needs a deviation above 0', "such as normal:0,1"],
  ["unifrom:0..1", '"unifrom:0..1" is no distribution, did you mean "uniform:0..1"?', undefined],
  ["0.1", '"0.1" is no distribution', "known: uniform:0..1, log:1e-5..1e-1, int:1..10, normal:0,1"],
])("%s is refused", (text, message, hint) => {
  expect(parseDistribution(text)).toEqual(hint === undefined ? { message } : { message, hint });
});
