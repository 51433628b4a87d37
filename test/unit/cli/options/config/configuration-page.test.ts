import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { mistakesOf } from "./a-config.js";

const page = readFileSync("docs/configuration.md", "utf8");

test("the files that docs/configuration.md shows have no mistakes", () => {
  const files = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  expect(files).toHaveLength(3);
  for (const user of files) expect(mistakesOf({ user })).toEqual([]);
});

test("the opposites that docs/configuration.md lists are there", () => {
  const [, row = ""] = /^\| (`gpus`, .*?) \|/m.exec(page) ?? [];
  const keys = [...row.matchAll(/`([a-z-]+)`/g)].map(([, key = ""]) => key);
  expect(keys.length).toBeGreaterThan(5);
  const project = [...keys, "machines", "tee"].map((key) => `no-${key}: true\n`).join("");
  expect(mistakesOf({ project: `${project}gpu-required: true\nreserve-gpu: true\n` })).toEqual([]);
});
