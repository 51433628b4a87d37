// `sshoal status`: how far the batches of this directory are.

import { ExitCode } from "../errors.js";
import type { StatusOptions } from "./batch-commands.js";

export async function showStatus(_options: StatusOptions): Promise<ExitCode> {
  return ExitCode.Success;
}
