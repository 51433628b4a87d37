import { expect, test } from "vitest";
import type { Outcome } from "../../../../src/model/job.js";
import { outcomeWords, reasonWords } from "../../../../src/report/text/outcome-words.js";

test.each<[Outcome, string, string, string]>([
  [{ kind: "exited", code: 1 }, "first\nKeyError: 'lr'\n", "exit 1", "KeyError: 'lr'"],
  [{ kind: "exited", code: 1 }, "E: CUDA out of memory. Tried 2 GiB", "GPU memory", "Tried 2 GiB"],
  [
    { kind: "exited", code: 1, cause: "gpu-out-of-memory" },
    "E: CUDA out of memory. Tried 2 GiB\nworker 3 died",
    "GPU memory",
    "worker 3 died",
  ],
  [{ kind: "exited", code: 1, cause: "disk-full" }, "torn", "disk full", "torn"],
  [{ kind: "exited", code: 125, cause: "setup-failed" }, "no conda", "setup failed", "no conda"],
  [
    { kind: "exited", code: 127 },
    "/home/a b/.sshoal/batches/q-3-bc403e7e@vm/jobs/5000000000008-8-1/command: line 49: trian: command not found\n",
    "exit 127",
    "trian: command not found",
  ],
  [
    { kind: "killed", signal: "SIGABRT" },
    "/home/a/.sshoal/batches/q-3-bc403e7e@vm/jobs/5000000000008-8-1/command: line 7:  4711 Aborted                 python train.py\n",
    "SIGABRT",
    "Aborted: python train.py",
  ],
  [{ kind: "killed", signal: "SIGKILL", cause: "out-of-memory" }, "epoch 3", "out of memory", "epoch 3"],
  [{ kind: "killed", signal: "SIGKILL", cause: "likely-out-of-memory" }, "", "out of memory?", ""],
  [{ kind: "killed", signal: "SIGSEGV" }, "", "SIGSEGV", ""],
  [{ kind: "timed-out" }, "epoch 3", "timed out", "epoch 3"],
  [{ kind: "lost", reason: "rebooted" }, "epoch 3", "lost", "rebooted"],
  [{ kind: "stopped" }, "epoch 3", "stopped", ""],
])("%j after %j", (outcome, lastWords, words, reason) => {
  expect(outcomeWords(outcome, lastWords)).toBe(words);
  expect(reasonWords(outcome, lastWords)).toBe(reason);
});
