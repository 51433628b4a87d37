// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are bash's

import { describe, expect, test } from "vitest";
import { placeholdersIn } from "../../../src/plan/placeholders.js";
import { aGpuNeed, aNeed } from "./a-machine.js";

const NEED = aNeed({ gpu: aGpuNeed(), resources: { licence: [1], "nvme-2": [0.5] } });

describe("placeholders for what a job got", () => {
  test.each([
    ["train.py --device {gpu}", ["gpu"]],
    ["train.py '{gpu}'", ["gpu"]],
    ["{{gpu}}", ["gpu"]],
    ["echo ${gpu}{gpu}", ["gpu"]],
    ["echo {licence} {gpu} {nvme-2}", ["gpu", "licence", "nvme-2"]],
    ["echo ${gpu}", []],
    ["echo $ {gpu}", ["gpu"]],
    [`echo '{"a":1}'`, []],
    ["awk '{print}'", []],
    ["echo {gpus} {GPU} { gpu } {gpu:2} {tpu} {} {a,b}", []],
  ])("%s has %j", (text, names) => {
    expect(placeholdersIn([text], NEED)).toEqual(names);
  });

  test("name what a job gets of a pool as it would be without one", () => {
    const need = aNeed({ gpu: null, resources: { "gpu@train": [0.5], "licence@train": [1] } });
    expect(placeholdersIn(["echo {gpu} {licence} {gpu@train}"], need)).toEqual(["gpu", "licence"]);
  });

  test("may be in values of variables", () => {
    expect(placeholdersIn(["train.py", "disk-{nvme-2}", "x"], NEED)).toEqual(["nvme-2"]);
  });

  test("are only names of what the job needs", () => {
    expect(placeholdersIn(["echo {gpu} {licence}"], aNeed())).toEqual([]);
    expect(placeholdersIn(["echo {print}"], aNeed({ resources: { print: [1] } }))).toEqual(["print"]);
  });
});
