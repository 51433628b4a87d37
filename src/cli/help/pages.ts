// What the build makes of the definitions of all programs: man pages and completion scripts.

import { VERSION } from "../../model/version.js";
import type { Shell } from "../options/completion-options.js";
import { describeForReading, PROGRAMS } from "../options/options.js";
import { bashCompletion } from "./bash-completion.js";
import { COMPLETION_FILES } from "./completion-files.js";
import { fishCompletion } from "./fish-completion.js";
import { manPages } from "./man-pages.js";
import { outline } from "./outline.js";
import { zshCompletion } from "./zsh-completion.js";

/** Texts by path below dist/. `templates`: complete.bash, complete.zsh and complete.fish. */
export function makePages(templates: Readonly<Record<Shell, string>>): Map<string, string> {
  const programs = PROGRAMS.map((program) => outline(describeForReading(program)));
  return new Map([
    ...[...manPages(programs, VERSION)].map(([name, text]) => [`man/${name}`, text] as const),
    [`completion/${COMPLETION_FILES.bash}`, bashCompletion(programs, templates.bash)],
    [`completion/${COMPLETION_FILES.zsh}`, zshCompletion(programs, templates.zsh)],
    [`completion/${COMPLETION_FILES.fish}`, fishCompletion(programs, templates.fish)],
  ]);
}
