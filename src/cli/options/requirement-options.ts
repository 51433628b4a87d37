// The options for what one job needs: memory, cores, GPUs.

import type { Command } from "commander";
import { UserError } from "../../errors.js";
import type { GpuRequirement, Requirement } from "../../model/job.js";
import { parseGpuList } from "./gpu-list.js";
import { memoryOption, numberOption, wholeOption } from "./option-values.js";

export interface RawRequirement {
  readonly numCpus: number;
  readonly memoryRequired?: number;
  readonly reserve?: true;
  readonly reserveGpu: boolean;
  readonly gpuRequired: boolean;
  readonly gpuMemoryRequired?: number;
  readonly gpus?: string[];
  readonly gpuUtilization: number;
  readonly gpusPerJob: number;
}

const MEMORY_MB = 7000;
const GPU_MEMORY_MB = 1000;

export function describeRequirement(command: Command): Command {
  return command
    .addOption(numberOption("--num-cpus <n>", "set the cores that each job uses", 1))
    .addOption(
      memoryOption(
        "--memory-required <MB>",
        `set the memory that each job uses: 3000 or 3GB (default: ${MEMORY_MB})`,
      ),
    )
    .option("--reserve", "give each job a machine of its own")
    .option("--no-reserve-gpu", "let several jobs share a GPU")
    .option("--no-gpu-required", "run jobs without a GPU")
    .option("--gpus <cards...>", "run one job at a time on each of these cards: 0,1,2; two pairs: 0,1 2,3")
    .addOption(
      memoryOption(
        "--gpu-memory-required <MB>",
        `set the GPU memory that each job uses (default: ${GPU_MEMORY_MB})`,
      ),
    )
    .addOption(numberOption("--gpu-utilization <share>", "set the share of a GPU that each job uses", 0.75))
    .addOption(wholeOption("--gpus-per-job <n>", "give each job this many GPUs", 1));
}

/** A user who lists cards has already planned their use, so only requirements that were given count. */
export function resolveRequirement(raw: RawRequirement): Requirement {
  const { gpus, reserve = false, numCpus: cpus } = raw;
  if (gpus === undefined) {
    const memoryMb = raw.memoryRequired ?? MEMORY_MB;
    return { cpus, memoryMb, reservesMachine: reserve, gpu: raw.gpuRequired ? resolveGpu(raw) : null };
  }
  if (!raw.gpuRequired || reserve) {
    throw new UserError(`--gpus and ${reserve ? "--reserve" : "--no-gpu-required"} contradict each other`, {
      hint: "leave one of them out",
    });
  }
  const { listed, perJob: count } = parseGpuList(gpus, raw.gpusPerJob);
  const isReserved = raw.reserveGpu && new Set(listed).size === listed.length;
  const gpu = { ...resolveGpu(raw), count, memoryMb: raw.gpuMemoryRequired ?? 0, isReserved, listed };
  return { cpus, memoryMb: raw.memoryRequired ?? 0, reservesMachine: false, gpu };
}

function resolveGpu(raw: RawRequirement): GpuRequirement {
  return {
    count: raw.gpusPerJob,
    memoryMb: raw.gpuMemoryRequired ?? GPU_MEMORY_MB,
    utilization: raw.gpuUtilization,
    isReserved: raw.reserveGpu,
  };
}
