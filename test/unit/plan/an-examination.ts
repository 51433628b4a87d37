// What doctor finds on a healthy machine, with the changes of a test.

import { diagnose } from "../../../src/fitness/diagnose.js";
import type { Check, Connection, Examination, HostFacts } from "../../../src/model/examination.js";
import type { Requirement } from "../../../src/model/job.js";
import type { Capacity, MachineSpec } from "../../../src/model/machine.js";
import { aCapacity, aNeed, aSpec } from "./a-machine.js";

const SCRATCH = {
  dir: "/home/me",
  freeKb: 90 * 1024 * 1024,
  filesystem: "ext2/ext3",
  unwritable: null,
  unsafe: null,
  isNoexec: false,
};

export interface Findings {
  readonly facts?: Partial<Omit<HostFacts, "scratch">>;
  readonly scratch?: Partial<HostFacts["scratch"]>;
  readonly connection?: Partial<Connection>;
  readonly found?: Partial<Examination>;
  readonly capacity?: Partial<Capacity>;
  readonly spec?: Partial<MachineSpec>;
  readonly need?: Partial<Requirement>;
  readonly treeNames?: readonly string[];
}

export function checksOf(findings: Findings = {}): Check[] {
  const { spec = {}, need = {}, treeNames = [] } = findings;
  return diagnose({
    spec: aSpec(spec),
    examination: anExamination(findings),
    requirement: aNeed(need),
    treeNames,
  });
}

function anExamination({ facts, scratch, connection, found, capacity }: Findings): Examination {
  return {
    connection: {
      transport: "ssh2",
      why: null,
      login: "the key /home/me/.ssh/id_ed25519",
      via: [],
      tookMs: 120,
      hostKey: "ssh-ed25519 SHA256:abc",
      isHostKeyNew: false,
      ...connection,
    },
    startUp: { tookMs: 40, noise: "" },
    facts: {
      system: "Linux",
      user: "me",
      loginShell: "/bin/bash",
      missingTools: [],
      oddClaims: [],
      hasOwnShm: false,
      packageManager: "apt-get",
      clockAheadMs: 0,
      cudaOrder: null,
      memoryLimit: null,
      killsProcesses: null,
      lingers: null,
      homeFilesystem: "ext2/ext3",
      setup: null,
      condaDir: null,
      modulesFile: null,
      stuckAt: null,
      ...facts,
      scratch: { ...SCRATCH, ...scratch },
    },
    capacity: aCapacity({ gpuProblem: "no NVIDIA driver (no nvidia-smi) and no AMD card", ...capacity }),
    sessions: 5,
    outlivesLogout: true,
    ...found,
  };
}
