import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { loadBatch } from "../../../src/input/load-batch.js";
import { parseMachine } from "../../../src/input/machine-file.js";

const source = { file: "m.yaml", name: "m.yaml", directory: "/d", homeDir: "/home/me", configFile: null };

describe("the example batch", () => {
  test("begins with the two jobs its readers know", async () => {
    expect((await loadBatch("example/batch_script.sh")).slice(0, 2)).toEqual([
      { line: 1, name: "example_batch_script.sh.1", command: 'echo "one job"' },
      {
        line: 2,
        name: "example_batch_script.sh.2",
        command: 'echo "jobs will tell you if they fail" && exit 1',
      },
    ]);
  });

  test("has a comment that is no job", async () => {
    expect((await loadBatch("example/batch_script.sh")).map(({ line }) => line)).toEqual([1, 2, 4, 5, 6, 7]);
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
      keepFree: { memoryMb: 16000, cpus: 4, gpus: 1 },
    });
  });
});
