// Commands of a test file that a failed test would leave running.

import { type LiveCommand, spawnCommand } from "./command.js";

const live: LiveCommand[] = [];

/** Call `endLiveCommands` after each test. */
export function startCommand(...about: Parameters<typeof spawnCommand>): LiveCommand {
  const command = spawnCommand(...about);
  live.push(command);
  return command;
}

export function endLiveCommands(): void {
  for (const { child } of live.splice(0)) child.kill("SIGKILL");
}
