import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { loadBatch } from "../../../src/input/batch/load-batch.js";
import { parseMachine } from "../../../src/input/machine/machine-file.js";
import { loadSweep } from "../../../src/input/sweep/load-sweep.js";
import { parseSweep } from "../../../src/input/sweep/sweep-file.js";
import { commandsOf } from "../sweep/a-sweep.js";

const source = { file: "m.yaml", name: "m.yaml", directory: "/d", homeDir: "/home/me", configFile: null };

describe("the example batch", () => {
  test("begins with its two well-known jobs", async () => {
    expect((await loadBatch("example/batch_script.sh")).jobs.slice(0, 2)).toEqual([
      { id: 1, line: 1, name: "example_batch_script.sh.1", command: 'echo "one job"' },
      {
        id: 2,
        line: 2,
        name: "example_batch_script.sh.2",
        command: 'echo "jobs will tell you if they fail" && exit 1',
      },
    ]);
  });

  test("has a comment that is not a job", async () => {
    expect((await loadBatch("example/batch_script.sh")).jobs.map(({ line }) => line)).toEqual([
      1, 2, 4, 5, 6, 7,
    ]);
  });
});

test("the example sweep has ten commands, as its rules allow", async () => {
  const commands = commandsOf(await loadSweep("example/sweep.yaml"));
  expect(new Set(commands).size).toBe(10);
  for (const command of commands) {
    expect(command).toMatch(
      /^python train\.py --model (resnet --depth 50|vit --depth 12) --bs \d+ --pools 2 [24] --lr \S+ --seed \d+$/,
    );
    expect(command).not.toContain("vit --depth 12 --bs 128");
  }
});

describe("the sweep file of the documentation", () => {
  test("can be read", async () => {
    const page = await readFile("docs/sweeps-and-results.md", "utf8");
    const [, text = ""] = /```yaml\n(command: [\s\S]*?)```/.exec(page) ?? [];
    const { sweep, problems } = parseSweep(text, "sweep.yaml");
    expect(problems).toEqual([]);
    expect(sweep && commandsOf(sweep)).toHaveLength(10);
  });
});

describe("the sample machine files", () => {
  test("all of them can be read", async () => {
    for (const name of await readdir("machines")) {
      expect([name, parseMachine(await readFile(`machines/${name}`), source).problems]).toEqual([name, []]);
    }
  });

  test("minimal.yaml has four keys", async () => {
    const { spec } = parseMachine(await readFile("machines/minimal.yaml"), source);
    expect(spec?.address).toEqual({
      kind: "ssh",
      host: "192.0.2.10",
      port: 22,
      username: "ada",
      keyPath: "/home/me/.ssh/id_ed25519",
      configFile: null,
      transport: null,
    });
  });

  test("full.yaml uses every key", async () => {
    const { spec } = parseMachine(await readFile("machines/full.yaml"), source);
    expect(spec).toMatchObject({
      address: { transport: "ssh2" },
      gpus: [0, 1, 2, 3],
      excludeGpus: [3],
      maxJobs: 8,
      scratch: "/scratch/ada",
      env: { HF_HOME: "/scratch/ada/huggingface", OMP_NUM_THREADS: "4", LEARNING_RATE: "1e-4" },
      setup: ["source /opt/conda/etc/profile.d/conda.sh", "conda activate train"],
      wrap: ["apptainer", "exec", "--nv", "/data/ada/train.sif"],
      keepFree: { memoryMb: 16000, cpus: 4, gpus: 1 },
    });
  });
});
