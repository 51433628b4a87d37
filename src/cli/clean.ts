import { ExitCode } from "../errors.js";
import type { CleanOptions } from "./batch-commands.js";

export async function cleanMachines(_options: CleanOptions): Promise<ExitCode> {
  return ExitCode.Success;
}
