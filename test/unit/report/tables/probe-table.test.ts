import { expect, test } from "vitest";
import { formatProbeTable, type ProbedMachine } from "../../../../src/report/tables/probe-table.js";
import { textWidth } from "../../../../src/report/text/width.js";
import { aCapacity, gpus } from "../../plan/a-machine.js";

const machines: ProbedMachine[] = [
  {
    kind: "probed",
    machine: "lab1.yaml",
    slots: 2,
    notes: [],
    capacity: aCapacity({
      cpus: { total: 16, free: 14.25 },
      memory: { totalMb: 64000, freeMb: 5120 },
      gpus: gpus(
        {},
        {
          memoryFreeMb: 812,
          utilization: 0.97,
          name: "NVIDIA RTX 6000 Ada Generation with a name that has no end",
        },
        { unusable: "is hidden by CUDA_VISIBLE_DEVICES=0,1" },
        { memoryFreeMb: null, utilization: null },
      ),
    }),
  },
  { kind: "failed", machine: "b.yaml", reason: "connection refused", hint: "is sshd running on port 22?" },
  {
    kind: "probed",
    machine: "cpu.yaml",
    slots: 0,
    notes: ["GPU: a job needs one, none was found: no driver (jobs that use no GPU: --no-gpu-required)"],
    capacity: aCapacity({ cpus: null, memory: null, gpuProblem: "no driver" }),
  },
];

test("a row per machine, and why there is no room", () => {
  expect(formatProbeTable(machines)).toBe(`\
machine    slots  cores free  memory free
lab1.yaml  2      14.3 of 16  5120 of 64000 MB
b.yaml     none
  connection refused
  is sshd running on port 22?
cpu.yaml   0      unknown     unknown
  GPU: a job needs one, none was found: no driver (jobs that use no GPU:
  --no-gpu-required)
`);
});

test.each([40, 60, 80, 200])("%i columns are never exceeded, and nothing moves the cursor", (columns) => {
  const odd = { ...machines[0], machine: `${"very-long-".repeat(9)}.yaml` } as ProbedMachine;
  const hostile: ProbedMachine = { kind: "failed", machine: "x\u001b[2J", reason: "a\r\nb", hint: null };
  const text = formatProbeTable([odd, hostile, ...machines], columns);
  for (const line of text.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(columns);
  expect(text).not.toMatch(/[\u001b\r]/);
});

test("a hint to type is on one line at any width", () => {
  const hint = `if the machine was reinstalled: ssh-keygen -R gpu1 -f /home/${"a".repeat(90)}/known_hosts`;
  const text = formatProbeTable([{ kind: "failed", machine: "a", reason: "its host key is new", hint }], 40);
  expect(text.split("\n")).toContain(`  ${hint}`);
});

test("the driver's message is shown once", () => {
  const capacity = aCapacity({ gpus: gpus({}), gpuProblem: "one card is lost" });
  const text = formatProbeTable([{ kind: "probed", machine: "a", slots: 1, notes: [], capacity }]);
  expect(text.match(/one card is lost/g)).toHaveLength(1);
});

test("a missing bash is shown", () => {
  const capacity = aCapacity({ shell: "sh" });
  const text = formatProbeTable([
    { kind: "probed", machine: "a", slots: 1, notes: ["cores: few"], capacity },
  ]);
  expect(text).toContain("\n  no bash: jobs run under sh\n  cores: few\n");
});

test("without machines there are only the headings", () => {
  expect(formatProbeTable([])).toBe("machine  slots  cores free  memory free\n");
});
