// The client needs few descriptors, even if many jobs run and print at once.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, waitFor } from "../rig/batch.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { surroundings } from "../rig/surroundings.js";
import { until } from "../rig/until.js";
import { makeWorkspace } from "../rig/workspace.js";

const JOBS = 40;
const MOST_DESCRIPTORS = 64;

let host: TestHost;
beforeEach(async () => {
  host = await startSshd();
});
afterEach(() => host.stop());

test.each([[[]], [["--tee"]]])(
  `${JOBS} running jobs with ${MOST_DESCRIPTORS} descriptors %j: all output arrives`,
  async (flags) => {
    const gate = await makeWorkspace();
    const job = `echo out; echo err >&2; ${waitFor(gate.path("go"))}; echo last`;
    const work = await makeWorkspace({ "jobs.sh": `${job}\n`.repeat(JOBS) });
    const home = await makeWorkspace();
    const program = fileURLToPath(new URL("../../dist/execute-batch.js", import.meta.url));
    const machine = await host.machineFile(`max_jobs: ${JOBS}`);
    const words = [process.execPath, program, "jobs.sh", "--machines", machine, ...LIGHT_NO_GPU, ...flags];
    const client = spawn("sh", ["-c", `ulimit -n ${MOST_DESCRIPTORS}; exec "$@"`, "sh", ...words], {
      cwd: work.dir,
      env: { ...surroundings(), HOME: home.dir },
    });
    let said = "";
    for (const stream of [client.stdout, client.stderr]) stream.on("data", (chunk) => (said += chunk));
    const ended = new Promise((resolve) => client.once("close", resolve));
    const read = (ending: string) =>
      Promise.all(
        Array.from({ length: JOBS }, (_, at) =>
          work.read(join("job_results", `jobs.sh.${at + 1}${ending}`)).catch(() => ""),
        ),
      );
    try {
      await until(
        "each job's output is here while it runs",
        async () =>
          (await read(".out")).every((text) => text === "out\n") &&
          (await read(".err")).every((text) => text === "err\n"),
        60_000,
      ).catch((error: Error) => expect.fail(`${error.message}\n${said}`));
      await gate.write("go", "");
      expect(await ended, said).toBe(0);
      expect(said).not.toContain("EMFILE");
      expect(new Set(await read(".out"))).toEqual(new Set(["out\nlast\n"]));
      if (flags.length > 0) expect(said.match(/: last$/gm)).toHaveLength(JOBS);
    } finally {
      client.kill("SIGKILL");
      await Promise.all([gate.remove(), work.remove(), home.remove()]);
    }
  },
);
