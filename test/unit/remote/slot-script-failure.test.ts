// Runs slot.sh with jobs that fail, and checks what it reports about the cause.

import { spawnSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { jobScript } from "../../../src/remote/spool/job-script.js";
import { makeCgroup } from "../../rig/cgroup.js";
import { makeWorkspace } from "../../rig/workspace.js";
import { aSpec } from "../plan/a-machine.js";
import { makeHome, makeSpool, SHELLS, type Shell, type Spool } from "./a-spool.js";
import { useSpool } from "./own-spool.js";

const A = "0000001-1";
const keyOf = (index: number) => `${String(index + 1).padStart(7, "0")}-1`;

/** The words after the duration, by job. */
async function factsIn(spool: Spool): Promise<Record<string, string[]>> {
  const ends = (await spool.events()).filter((line) => line.startsWith("ended "));
  return Object.fromEntries(ends.map((line) => [line.split(" ")[1], line.split(" ").slice(5)]));
}

const GPU_MESSAGES = [
  "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB (GPU 0; …)",
  "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.50 GiB",
  "RuntimeError: CUDA error: out of memory",
  "cuInit: CUDA_ERROR_OUT_OF_MEMORY",
  "hipErrorOutOfMemory: out of memory",
  "jaxlib.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8 bytes.",
  "ggml_cuda: cudaMalloc failed: out of memory",
  "CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)",
];

describe.each(SHELLS)("under %s", (_, shell) => {
  const { spool } = useSpool(shell);

  test("the known messages about GPU memory, on stderr and on stdout", async () => {
    for (const [index, message] of GPU_MESSAGES.entries()) {
      const stream = index % 2 === 0 ? " >&2" : "";
      await spool.job(keyOf(index), `echo '${message}'${stream}; printf 'after\\000wards\\n' >&2; exit 1`);
    }
    await spool.run();
    expect(Object.values(await factsIn(spool))).toEqual(GPU_MESSAGES.map(() => ["gpu-memory=yes"]));
  });

  test("a full disk by the message of the job", async () => {
    await spool.job(A, "echo 'OSError: [Errno 28] No space left on device' >&2; exit 1");
    await spool.run();
    expect(await factsIn(spool)).toEqual({ [A]: ["disk=full"] });
  });

  test("nothing is known of other failures, of successes and of old lines", async () => {
    await spool.job(keyOf(0), "echo no memory of GPUs >&2; exit 1");
    await spool.job(keyOf(1), "echo CUDA out of memory");
    await spool.job(keyOf(2), "echo CUDA out of memory; printf '%5000s' x; exit 1");
    await spool.job(keyOf(3), "exit 3");
    await spool.run();
    expect(Object.values(await factsIn(spool))).toEqual([[], [], [], []]);
  });

  test.each([
    ["fails", "false"],
    ["exits by itself", "exit 3"],
    ["exits with success", "exit 0"],
  ])("a line of the setup %s", async (how, line) => {
    const machine = aSpec({ setup: ["true", line] });
    await spool.job(A, jobScript({ id: 1, line: 1, name: "a", command: "echo ran" }, machine, "b", {}));
    await spool.run();
    expect(await spool.read(`jobs/${A}/out`)).toBe("");
    expect(await factsIn(spool)).toEqual({ [A]: how === "exits with success" ? [] : ["setup=failed"] });
  });

  test.each([["false"], ["exit 125"], ["(exit 2)"]])(
    "the command %s fails after a setup",
    async (command) => {
      const machine = aSpec({ setup: ["true"] });
      await spool.job(A, jobScript({ id: 1, line: 1, name: "a", command }, machine, "b", {}));
      await spool.run();
      expect(await factsIn(spool)).toEqual({ [A]: [] });
    },
  );

  test("the setup of an earlier job that failed says nothing about the next one", async () => {
    const job = { id: 1, line: 1, name: "a", command: "true" };
    await spool.job(keyOf(0), jobScript(job, aSpec({ setup: ["false"] }), "b", {}));
    await spool.job(keyOf(1), "kill -KILL $$");
    await spool.start().ended; // bash prints "Killed"
    expect((await factsIn(spool))[keyOf(1)]).not.toContain("setup=failed");
  });
});

describe("out of memory", () => {
  const cgroup = makeCgroup(100);

  test.skipIf(cgroup === null)(
    "a job that the kernel kills in its cgroup, and one that a user kills",
    async () => {
      if (cgroup === null) return;
      const inside: Shell = {
        words: ["sh", "-c", `echo $$ >${cgroup.dir}/cgroup.procs; exec dash "$@"`, "sh"],
      };
      const home = await makeHome(inside);
      try {
        const spool = await makeSpool(home, inside);
        await spool.job(keyOf(0), "true");
        await spool.job(keyOf(1), "head -c 300000000 /dev/zero | tail");
        await spool.job(keyOf(2), 'sh -c "kill -KILL \\$\\$"');
        await spool.start().ended;
        const facts = await factsIn(spool);
        expect(await spool.read(`jobs/${keyOf(1)}/exit`)).toBe("137\n");
        // A slow one has a footprint, too.
        expect(facts[keyOf(1)]).toContain("oom=certain");
        expect(await spool.read(`jobs/${keyOf(2)}/exit`)).toBe("137\n");
        // Other tests on this computer may run out of memory at the same time.
        expect(facts[keyOf(2)]).not.toContain("oom=certain");
      } finally {
        await home.close();
        await cgroup.remove();
      }
    },
  );
});

describe.each(SHELLS)("counts of kills under %s", (_, { words }) => {
  const SCRIPT = fileURLToPath(new URL("../../../src/remote/runtime/slot/failure.sh", import.meta.url));
  const V1 = "12:cpu,cpuacct:/x\n4:memory:/user/a\n0::/user/b\n";
  const V2 = "0::/user/a\n";

  /** Looks, adds to the counts, and looks again after a SIGKILL. */
  async function look(files: Record<string, string>, then: Record<string, string>): Promise<string> {
    const box = await makeWorkspace({ "proc/vmstat": "nr_free_pages 7\noom_kill 3\nswap 1\n", ...files });
    try {
      const program = words[0] === "sh" ? ["busybox", "sh"] : words;
      const steps = [
        "note_oom_kills",
        "sh then.sh",
        "note_oom_kills",
        "find_oom_kill",
        "echo $facts",
        "facts=",
      ];
      const all = ["proc=proc cgroups=cgroups facts=", ...steps, "find_oom_kill", "echo again $facts"];
      const script = `. '${SCRIPT}'; ${all.join("; ")}`;
      await box.write("then.sh", "");
      for (const [name, text] of Object.entries(then))
        appendFileSync(box.path("then.sh"), `printf '${text}' >${name}\n`);
      const [shell = "sh", ...rest] = program;
      const { stdout, stderr } = spawnSync(shell, [...rest, "-c", script], {
        cwd: box.dir,
        encoding: "utf8",
      });
      return stdout.trim() + stderr; // the second look finds nothing new
    } finally {
      await box.remove();
    }
  }

  const EVENTS = (kills: number) =>
    `low 0\\nhigh 5\\nmax 5\\noom 2\\noom_kill ${kills}\\noom_group_kill 0\\n`;
  const CONTROL = (kills: number) => `oom_kill_disable 0\\nunder_oom 0\\noom_kill ${kills}\\n`;
  const text = (escaped: string) => escaped.replaceAll("\\n", "\n");

  test("cgroup v2", async () => {
    const files = { "proc/self/cgroup": V2, "cgroups/user/a/memory.events": text(EVENTS(1)) };
    expect(await look(files, { "cgroups/user/a/memory.events": EVENTS(2) })).toBe("oom=certain\nagain");
  });

  test("cgroup v2, in a container that sees its own cgroup as the root", async () => {
    const files = { "proc/self/cgroup": V2, "cgroups/memory.events": text(EVENTS(0)) };
    expect(await look(files, { "cgroups/memory.events": EVENTS(1) })).toBe("oom=certain\nagain");
  });

  test("cgroup v1", async () => {
    const file = "cgroups/memory/user/a/memory.oom_control";
    const files = { "proc/self/cgroup": V1, [file]: text(CONTROL(0)) };
    expect(await look(files, { [file]: CONTROL(1) })).toBe("oom=certain\nagain");
  });

  test("only the count of the machine rose", async () => {
    const files = { "proc/self/cgroup": V2, "cgroups/user/a/memory.events": text(EVENTS(1)) };
    expect(await look(files, { "proc/vmstat": "oom_kill 4\\n" })).toBe("oom=likely\nagain");
  });

  test.each([
    ["no count rose", { "cgroups/user/a/memory.events": text(EVENTS(1)) }],
    ["there are no counts", { "proc/vmstat": "nr_free_pages 7\n" }],
    [
      "counts are no numbers",
      { "proc/vmstat": "oom_kill x\n", "cgroups/user/a/memory.events": "oom_kill\n" },
    ],
  ])("%s", async (_name, files) => {
    expect(await look({ "proc/self/cgroup": V2, ...files }, {})).toBe("again");
  });

  test("a count that appears later is not compared with nothing", async () => {
    expect(
      await look({ "proc/self/cgroup": V2, "cgroups/other": "" }, { "cgroups/memory.events": EVENTS(9) }),
    ).toBe("again");
  });
});

describe.each(SHELLS)("a job in a scope of its own, by the counts of cgroup v2, under %s", (_, { words }) => {
  const script = (name: string) =>
    fileURLToPath(new URL(`../../../src/remote/runtime/slot/${name}.sh`, import.meta.url));
  const SLICE = "cgroups/app.slice/memory.events";
  const SCOPE = "cgroups/app.slice/run-1.scope/memory.events";

  /** Notes the scope, changes the files, and asks after this exit code. */
  async function asked(code: number, change: string): Promise<boolean> {
    const box = await makeWorkspace({
      "proc/self/cgroup": "0::/app.slice/run-1.scope\n",
      [SLICE]: "oom 5\noom_kill 3\n",
      [SCOPE]: "oom 0\noom_kill 0\n",
      "slot/scope": "",
    });
    try {
      const [shell = "sh", ...rest] = words[0] === "sh" ? ["busybox", "sh"] : words;
      const noted = 'sh -c "$note_scope" sh slot/scope cgroups proc echo ran';
      const steps = [
        `. '${script("failure")}'; . '${script("memory-limit")}'; mine=slot scope=x`,
        noted,
        change,
      ];
      const all = [...steps, `was_killed_in_scope ${code} && echo killed`].join("\n");
      const { stdout, stderr } = spawnSync(shell, [...rest, "-c", all], { cwd: box.dir, encoding: "utf8" });
      expect(stderr).toBe("");
      expect(stdout).toMatch(/^ran\n(killed\n)?$/);
      return stdout.includes("killed");
    } finally {
      await box.remove();
    }
  }

  const rises = (file: string, count: number) => `printf 'oom 9\\noom_kill ${count}\\n' >${file}`;
  const GONE = "rm -r cgroups/app.slice/run-1.scope";

  test.each([
    ["the scope counted a kill", 1, rises(SCOPE, 1), true],
    ["only another scope of the slice counted one", 137, rises(SLICE, 4), false],
    ["the scope is gone, and the slice counted a kill", 137, `${GONE}; ${rises(SLICE, 4)}`, true],
    ["the same, and systemd ended the rest of the scope", 143, `${GONE}; ${rises(SLICE, 4)}`, true],
    ["the same, but the job ended by itself", 1, `${GONE}; ${rises(SLICE, 4)}`, false],
    ["the scope is gone, and nothing was counted", 137, GONE, false],
    ["everything is gone", 137, "rm -r cgroups", false],
  ])("%s", async (_name, code, change, isKilled) => {
    expect(await asked(code, change)).toBe(isKilled);
  });
});
