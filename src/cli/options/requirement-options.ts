// The options for what one job needs: memory, cores, GPUs.

import { type Command, Option } from "commander";
import { UserError } from "../../errors.js";
import type { AskedNeed } from "../../input/need/parse-need.js";
import type { Placing } from "../../model/batch.js";
import type { GpuRequirement, Requirement } from "../../model/job.js";
import { parseGpuList } from "./gpu-list.js";
import { cardCountOption, memoryOption, numberOption } from "./option-values.js";
import { requireOption, withImplied } from "./require-option.js";

export interface RawRequirement {
  readonly numCpus: number;
  readonly memoryRequired?: number;
  readonly reserve?: true;
  readonly reserveGpu: boolean;
  readonly gpuRequired: boolean;
  readonly gpuMemoryRequired?: number;
  readonly gpus?: string[];
  readonly gpuUtilization?: number;
  readonly gpusPerJob: number;
  readonly gpuModel?: string;
  readonly gpuMemoryTotal?: number;
  readonly require?: AskedNeed;
  readonly pack?: true;
  readonly polite?: true;
}

const MEMORY_MB = 7000;
const GPU_MEMORY_MB = 1000;
const GPU_UTILIZATION = 0.75;

export function describeRequirement(command: Command): Command {
  return describeNeed(command, MEMORY_MB)
    .option("--gpus <cards...>", "run one job at a time on each of these cards: 0,1,2; two pairs: 0,1 2,3")
    .option("--pack", "use cards that have jobs before others, so that whole cards stay free")
    .option(
      "--polite",
      "run jobs with nice, leave a card free, and use no card with another person's process",
    );
}

/** What a single job can need. */
export function describeNeed(command: Command, memoryMb: number): Command {
  command
    .addOption(numberOption("--num-cpus <n>", "set the cores that each job uses", 1))
    .addOption(
      memoryOption(
        "--memory-required <MB>",
        `set the memory that each job uses: 3000 or 3GB (default: ${memoryMb})`,
      ),
    )
    .option("--reserve", "give each job a machine of its own")
    .option("--no-reserve-gpu", "let several jobs share a GPU")
    .option("--no-gpu-required", "run jobs without a GPU")
    .addOption(
      memoryOption(
        "--gpu-memory-required <MB>",
        `set the GPU memory that each job uses (default: ${GPU_MEMORY_MB})`,
      ),
    )
    .addOption(
      numberOption("--gpu-utilization <share>", "set the share of a GPU that each job uses").default(
        undefined,
        `${GPU_UTILIZATION}, or the part of a card`,
      ),
    )
    .addOption(
      cardCountOption("--gpus-per-job <n>", "give each job this many GPUs: 2, or a part of one: 0.5", 1),
    )
    .addOption(modelOption())
    .addOption(
      // Drivers report up to 7 % less than the size that a card is sold with: 81559 MB for 80 GB, 23028 MB for 24 GB.
      memoryOption("--gpu-memory-total <MB>", "use only cards with at least this much memory in all", 1000),
    )
    .addOption(requireOption());
  return withImplied(command);
}

function modelOption(): Option {
  return new Option(
    "--gpu-model <model>",
    "use only cards whose name has this, or one of several: 'A100|H100'",
  ).argParser((text) => {
    const parts = text.split("|");
    if (text.length <= 100 && !/\p{C}/u.test(text) && parts.every((part) => part.trim() !== "")) return text;
    throw new UserError(`--gpu-model takes parts of names, with | between them, got "${text}"`, {
      hint: "for example --gpu-model 'A100|H100'; nvidia-smi -L lists the names",
    });
  });
}

/** A user who lists cards has already planned their use, so only requirements that were given count. */
export function resolveRequirement(raw: RawRequirement): Requirement {
  const { gpus, reserve = false, numCpus: cpus } = raw;
  const named = namedResources(raw);
  if (gpus === undefined) {
    const memoryMb = raw.memoryRequired ?? MEMORY_MB;
    const gpu = raw.gpuRequired ? resolveGpu(raw) : null;
    return { cpus, memoryMb, reservesMachine: reserve, gpu, ...named };
  }
  refuseWithGpus(raw);
  const { listed, perJob: count } = parseGpuList(gpus, raw.gpusPerJob);
  const isReserved = raw.reserveGpu && new Set(listed).size === listed.length;
  const gpu = { ...resolveGpu(raw), count, memoryMb: raw.gpuMemoryRequired ?? 0, isReserved, listed };
  return { cpus, memoryMb: raw.memoryRequired ?? 0, reservesMachine: false, gpu, ...named };
}

export function resolvePlacing({ pack, polite }: RawRequirement): Placing {
  return { ...(pack && { packs: true }), ...(polite && { isPolite: true }) };
}

/** Listed cards are chosen already. */
function refuseWithGpus(raw: RawRequirement): void {
  const others = {
    "--reserve": raw.reserve,
    "--no-gpu-required": !raw.gpuRequired,
    "--gpu-model": raw.gpuModel !== undefined,
    "--gpu-memory-total": raw.gpuMemoryTotal !== undefined,
  };
  const other = Object.entries(others).find(([, isGiven]) => isGiven)?.[0];
  if (other === undefined) return;
  throw new UserError(`--gpus and ${other} contradict each other`, { hint: "leave one of them out" });
}

function namedResources({ require }: RawRequirement): Pick<Requirement, "resources"> {
  const resources = require?.resources ?? {};
  return Object.keys(resources).length === 0 ? {} : { resources };
}

/** Jobs that use a part of a card share it. */
function resolveGpu(raw: RawRequirement): GpuRequirement {
  const { gpusPerJob: count, gpuModel: model, gpuMemoryTotal: memoryTotalMb } = raw;
  const part = Math.round((count % 1) * 1000) / 1000;
  return {
    count,
    memoryMb: raw.gpuMemoryRequired ?? GPU_MEMORY_MB,
    utilization: raw.gpuUtilization ?? Math.min(GPU_UTILIZATION, part || 1),
    isReserved: raw.reserveGpu && count >= 1,
    ...(model !== undefined && { model }),
    ...(memoryTotalMb !== undefined && { memoryTotalMb }),
  };
}
