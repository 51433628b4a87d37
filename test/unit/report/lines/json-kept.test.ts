// Fields of --json are added, and never renamed or removed: every field of an earlier version is still there.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { probeJson } from "../../../../src/cli/commands/probe-machines.js";
import type { Claim } from "../../../../src/model/machine.js";
import { createJsonReporter } from "../../../../src/report/lines/json-lines.js";
import { aCapacity, aCardClaim, aClaim, aSpec } from "../../plan/a-machine.js";
import { ready } from "../../plan/a-run.js";
import { teller, textSink } from "../builders.js";

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");

type Fields = ReadonlyMap<string, ReadonlySet<string>>;

/** The paths of all fields of each kind: `capacity.gpus[].uuid`. */
function fieldsIn(lines: readonly string[]): Fields {
  const fields = new Map<string, Set<string>>();
  for (const line of lines) {
    const object = JSON.parse(line) as { readonly kind: string };
    fields.set(object.kind, new Set([...(fields.get(object.kind) ?? []), ...pathsIn(object, "")]));
  }
  return fields;
}

function pathsIn(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => pathsIn(each, `${path}[]`));
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, each]) => pathsIn(each, `${path}.${name}`))];
}

// Other tests compare the examples of the document with what is printed.
const now = fieldsIn(
  [...read("docs/json-events.md").matchAll(/^ {4}(\{"v".*)$/gm)].map(([, line = ""]) => line),
);

describe.each(["0.3.0", "0.4.0", "0.5.0", "0.6.0"])("version %s", (version) => {
  const then = fieldsIn(read(`test/records/json-${version}.jsonl`).trimEnd().split("\n"));

  test.each([...then])("%s", (kind, fields) => {
    expect([...fields].filter((field) => !now.get(kind)?.has(field))).toEqual([]);
  });
});

const CLAIM: Claim = aClaim({
  memoryMb: 100,
  cards: [
    aCardClaim({ uuid: "GPU-0", memoryMb: 3000, share: 0.75, amount: 1 }),
    aCardClaim({ uuid: "GPU-1", memoryMb: 3000, share: 0.75, amount: 1 }),
  ],
});
const OLDER = {
  memoryMb: 100,
  gpuUuids: ["GPU-0", "GPU-1"],
  gpuMemoryMb: 3000,
  gpuUtilization: 0.75,
  reservesGpu: true,
};

test("claims also have the fields of version 0.3, in machine-ready and in probe", () => {
  const capacity = aCapacity({ claims: [CLAIM, aClaim()] });
  const stdout = textSink();
  const news = { ...ready("a", 1), capacity, at: 1 } as Parameters<ReturnType<typeof teller>>[0];
  teller(createJsonReporter(stdout).show)(news);
  const plan = { slots: [], shortages: [] };
  const about = {} as Extract<Parameters<typeof probeJson>[0], { kind: "probed" }>["about"];
  const probed = probeJson({ kind: "probed", spec: aSpec(), capacity, about, plan });
  for (const line of [stdout.text, probed]) {
    const { claims } = JSON.parse(line).capacity;
    expect(claims).toMatchObject([
      { ...CLAIM, ...OLDER },
      { gpuUuids: [], gpuMemoryMb: 0, gpuUtilization: 0, reservesGpu: false },
    ]);
  }
});
