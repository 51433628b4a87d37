// Any rule of `--halt`.

import fc from "fast-check";
import type { HaltRule } from "../../../src/model/halt-rule.js";

export const aHaltRule: fc.Arbitrary<HaltRule> = fc.record({
  when: fc.constantFrom("soon", "now"),
  why: fc.constantFrom("fail", "success", "done"),
  amount: fc.integer({ min: 1, max: 100 }),
  unit: fc.constantFrom("jobs", "percent"),
});
