// Cards for the stand-in nvidia-smi: writes the state file from which it answers.

import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { readableCopy } from "./account.js";

/** Put it first on a PATH. */
export const STAND_IN_BIN = readableCopy(fileURLToPath(new URL("./bin", import.meta.url)));

/** Numbers in MiB and percent; text is printed unchanged: `[N/A]`, `ERR!`. Absent: an idle RTX 3090. */
interface StandInGpu {
  readonly uuid?: string;
  readonly name?: string;
  readonly memoryTotal?: number | string;
  readonly memoryFree?: number | string;
  readonly utilization?: number | string;
  readonly computeMode?: string;
  readonly mig?: string;
  /** It fails every query about all cards, and about itself. */
  readonly isLost?: boolean;
  readonly slices?: readonly StandInSlice[];
  readonly processes?: readonly { pid: number; memory: number | string; name: string }[];
}

interface StandInSlice {
  readonly profile: string;
  readonly uuid: string;
  readonly memoryTotal: number;
  readonly memoryFree: number;
  /** The GPU instance that it is a compute instance of; left out: one of its own. */
  readonly instance?: number;
}

export interface StandInState {
  readonly gpus: readonly StandInGpu[];
  /** A directory in which processes register: a file for each pid, with lines "<card> <MiB>". */
  readonly holders?: string;
  readonly failure?: "no-driver" | "mismatch" | "no-library" | "no-devices" | "hang";
  /** Fields of --query-gpu that this driver does not know. */
  readonly refuse?: readonly string[];
  /** Lines before every answer. */
  readonly warnings?: readonly string[];
}

/** As an Orin answers: everything but its name is not available. */
export const JETSON = {
  uuid: "54b4fb2c-d9f0-5a8c-8c4f-1c2d3e4f5a6b",
  name: "Orin (nvgpu)",
  memoryTotal: "[N/A]",
  memoryFree: "[N/A]",
  utilization: "[N/A]",
  computeMode: "[N/A]",
};

/** `path`: what NVIDIA_SMI_STATE names, or `nvidia-smi.state` in the home directory. Replaces it in one step. */
export function saveGpus(
  path: string,
  { gpus, failure, refuse = [], warnings = [], holders }: StandInState,
): void {
  const lines = [
    ...(failure === undefined ? [] : [`failure=${failure}`]),
    ...(refuse.length === 0 ? [] : [`refuse=${refuse.join(",")}`]),
    ...(holders === undefined ? [] : [`holders=${holders}`]),
    ...warnings.map((warning) => `warning=${warning}`),
    ...gpus.flatMap(gpuLines),
  ];
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, lines.map((line) => `${line}\n`).join(""));
  renameSync(`${path}.new`, path);
}

/**
 * A stand-in of the stand-in: the first question, from the probe, is answered as usual. Later ones, from slots, are answered
 * from `laterState`, until there is `left` in `dir`.
 */
export function otherAfterProbe(dir: string, laterState: string): string {
  return `#!/bin/sh
case "$*" in
  *--query-gpu*)
    [ -e ${dir}/left ] || ! [ -e ${dir}/asked ] || export NVIDIA_SMI_STATE=${laterState}
    touch ${dir}/asked
    ;;
esac
exec ${STAND_IN_BIN}/nvidia-smi "$@"
`;
}

function gpuLines(gpu: StandInGpu): string[] {
  const cells = {
    uuid: gpu.uuid,
    name: gpu.name,
    "memory.total": gpu.memoryTotal,
    "memory.free": gpu.memoryFree,
    "utilization.gpu": gpu.utilization,
    compute_mode: gpu.computeMode,
    "mig.mode.current": gpu.mig ?? (gpu.slices && "Enabled"),
    lost: gpu.isLost ? 1 : undefined,
  };
  return [
    "gpu",
    ...Object.entries(cells).flatMap(([field, cell]) => (cell === undefined ? [] : [`${field}=${cell}`])),
    ...(gpu.slices ?? []).map(
      ({ profile, uuid, memoryTotal, memoryFree, instance = "" }) =>
        `slice=${profile} ${uuid} ${memoryTotal} ${memoryFree} ${instance}`,
    ),
    ...(gpu.processes ?? []).map(({ pid, memory, name }) => `process=${pid} ${memory} ${name}`),
  ];
}
