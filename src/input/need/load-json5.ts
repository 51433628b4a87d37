// Loads the parser of JSON5 when it is first needed. The build puts it into the program (build.mjs).

import { createRequire } from "node:module";
import type JSON5 from "json5";

export function loadJson5(): typeof JSON5 {
  return createRequire(import.meta.url)("json5") as typeof JSON5;
}
