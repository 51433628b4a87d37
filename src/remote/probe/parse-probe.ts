// Turns the probe's raw lines into a machine's capacity. A section that cannot be read affects only that section.

import type { Capacity, Gpu } from "../../model/machine.js";
import { parseAllClaims } from "./parse-all-claims.js";
import { parseAmd } from "./parse-amd.js";
import { accountOf } from "./parse-claims.js";
import { parseCpus } from "./parse-cpus.js";
import { parseMemory } from "./parse-memory.js";
import { parseNvidia } from "./parse-nvidia.js";
import { cleanText, type Facts, factsOf, gatherFacts } from "./probe-facts.js";
import { hideInvisible } from "./visible-gpus.js";

export function parseProbe(lines: readonly string[]): Capacity {
  const facts = gatherFacts(lines);
  const { gpus, said, hasOnlySmall } = parseGpus(facts);
  const account = accountOf(facts);
  return {
    hostname: cleanText(factsOf(facts, "hostname")[0] ?? ""),
    identity: cleanText(factsOf(facts, "identity")[0] ?? ""),
    shell: facts.has("no-bash") ? "sh" : "bash",
    cpus: parseCpus(facts),
    memory: parseMemory(facts),
    gpus,
    gpuProblem: gpuProblem(facts, said) ?? (gpus.length === 0 ? noCards(facts, hasOnlySmall) : null),
    claims: parseAllClaims(facts),
    ...(account !== undefined && { account }),
    ...parseLogout(facts),
  };
}

function parseLogout(facts: Facts): Pick<Capacity, "logout"> {
  const logout = (["scope", "no-linger", "no-scope"] as const).find(
    (each) => each === factsOf(facts, "logout")[0],
  );
  return logout === undefined ? {} : { logout };
}

function parseGpus(facts: Facts): { gpus: Gpu[]; said: readonly string[]; hasOnlySmall: boolean } {
  const nvidia = parseNvidia(facts);
  const amd = parseAmd(facts, nvidia.gpus.length > 0);
  const gpus = [
    ...hideInvisible(nvidia.gpus, visibleValue(facts, "cuda"), "CUDA_VISIBLE_DEVICES"),
    ...hideInvisible(amd.gpus, visibleValue(facts, "rocr"), "ROCR_VISIBLE_DEVICES"),
  ];
  return { gpus, said: nvidia.said, hasOnlySmall: amd.hasOnlySmall };
}

/** A variable that is set but empty is also a value: it hides every card. */
function visibleValue(facts: Facts, maker: string): string | null {
  const line = factsOf(facts, "visible").find((value) => value.split(" ")[0] === maker);
  return line?.slice(maker.length + 1) ?? null;
}

const MOST_SAID = 3;

function gpuProblem(facts: Facts, said: readonly string[]): string | null {
  const late = factsOf(facts, "late")[0];
  if (late !== undefined) return `no answer from the GPU tools within ${cleanText(late)} s`;
  return said.length > 0 ? said.slice(0, MOST_SAID).join("; ") : null;
}

function noCards(facts: Facts, hasOnlySmall: boolean): string {
  if (!facts.has("no-smi")) return "nvidia-smi lists no cards";
  if (!hasOnlySmall) return "no NVIDIA driver (no nvidia-smi) and no AMD card";
  return "no NVIDIA driver (no nvidia-smi), and of AMD only an integrated GPU, which is too small to compute with";
}
