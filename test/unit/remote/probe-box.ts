// Runs probe.sh under each shell it must run under, on directory trees that replace /proc and /sys.

import { spawnSync } from "node:child_process";
import { parseProbe } from "../../../src/remote/probe/parse-probe.js";
import { probeScript } from "../../../src/remote/probe/probe.js";
import { STAND_IN_BIN, type StandInState, saveGpus } from "../../rig/gpus.js";
import { makeWorkspace, type Workspace } from "../../rig/workspace.js";

export const BOOT_ID = "5b1f9a52-0000-4000-8000-000000000000";
const NONCE = "sshoal-nonce";

const TREE = {
  "proc/uptime": "1000.08 1\n",
  "proc/stat": "cpu  100 0 0 900 0 0 0 0 0 0\ncpu0 100 0 0 900 0 0 0 0 0 0\n",
  "proc/meminfo":
    "MemTotal:       16384000 kB\nMemFree: 1 kB\nMemAvailable:    8192000 kB\nSwapFree: 9999999 kB\n",
  "proc/self/status": "Name:\tsh\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n",
  "proc/self/cgroup": "0::/\n",
  "proc/self/smaps": "00400000-00401000 r--p 00000000 08:01 1\nSize: 4 kB\nKernelPageSize:        4 kB\n",
  "proc/sys/kernel/hostname": "box\n",
  "proc/sys/kernel/random/boot_id": `${BOOT_ID}\n`,
};

export const SHELLS = ["dash", "bash", "busybox ash"];

export interface Circumstances {
  readonly bases?: readonly string[];
  readonly env?: Record<string, string>;
  readonly before?: string;
  readonly after?: string;
  readonly proc?: string;
  readonly gpuSeconds?: string;
  /** The processes on every card are wanted. */
  readonly holders?: boolean;
}

export class ProbeBox {
  readonly #shell: readonly string[];
  readonly files: Workspace;

  private constructor(shell: string, files: Workspace) {
    this.#shell = shell.split(" ");
    this.files = files;
  }

  static async make(shell: string): Promise<ProbeBox> {
    return new ProbeBox(shell, await makeWorkspace(TREE));
  }

  withGpus(state: StandInState): void {
    saveGpus(this.files.path("state"), state);
  }

  run({ bases = [], env = {}, before = "", after = "", ...settings }: Circumstances = {}) {
    const script = `${before}\n${probeScript(NONCE, bases, this.#settings(settings))}\n${after}`;
    const [file = "sh", ...words] = this.#shell;
    const { stdout, stderr } = spawnSync(file, [...words, "-c", 'eval "$1"', "sh", script], {
      env: {
        PATH: `${this.files.path("bin")}:${STAND_IN_BIN}:/usr/bin:/bin`,
        HOME: this.files.dir,
        // Claims of real slots are none of its business.
        SSHOAL_CLAIMS: this.files.dir,
        NVIDIA_SMI_STATE: this.files.path("state"),
        ...env,
      },
      input: "left alone\n",
      encoding: "utf8",
      timeout: 30_000,
    });
    const framed = stdout.split("\n").filter((line) => line.startsWith(`${NONCE} `));
    const lines = framed.map((line) => line.slice(NONCE.length + 1));
    return { stdout, stderr, lines, capacity: parseProbe(lines), isComplete: lines.at(-1) === "done" };
  }

  #settings({ proc = this.files.path("proc"), gpuSeconds = "60", holders = false }: Circumstances) {
    // On a fixed tree there is no need to wait between the two readings.
    const apart = proc === "/proc" ? "20" : "0";
    return {
      proc,
      sys: this.files.path("sys"),
      gpu_seconds: gpuSeconds,
      apart,
      details: holders ? "yes" : "no",
    };
  }
}
