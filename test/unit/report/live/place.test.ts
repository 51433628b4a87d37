import { expect, test } from "vitest";
import { placeName } from "../../../../src/report/live/place.js";
import { slotsWith } from "../builders.js";

const slots = slotsWith([0], [1]);

test.each([
  ["the cards that it got, whatever was planned for its slot", ["1"], 3, "gpu1:1"],
  ["no card, although one was planned for its slot", undefined, 3, "gpu1"],
  ["the planned card, of an older slot, which reports none", undefined, 2, "gpu1:0"],
  ["a slice by its index", [slots[1]?.gpus[0]?.uuid ?? ""], 3, "gpu1:1"],
  ["an unknown slice", ["MIG-1"], 3, "gpu1"],
])("a job has %s", (_, gpus, spoolFormat, place) => {
  expect(placeName("gpu1", { slot: 0, ...(gpus && { gpus }) }, { slots, spoolFormat })).toBe(place);
});
