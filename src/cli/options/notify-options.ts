// --notify and --notify-on, for every command that follows a batch.

import { type Command, Option } from "commander";
import { UserError } from "../../errors.js";
import type { Notice } from "../../model/notice.js";

export interface RawNotify {
  readonly notify?: string;
  readonly notifyOn?: Notice["on"];
}

/** Null: nothing was said. A script may have the one, and the command line the other. */
export interface NotifyOptions {
  readonly command: string | null;
  readonly on: Notice["on"] | null;
}

export function describeNotify(command: Command): Command {
  return command
    .option("--notify <command>", "run this command on this computer once, when the batch ends; '' for none")
    .addOption(
      new Option("--notify-on <when>", "run it at the end of the batch, or at its first failure")
        .choices(["end", "failure"])
        .default(undefined, "end"),
    );
}

export function resolveNotify({ notify, notifyOn }: RawNotify): NotifyOptions {
  if (notify !== undefined && notify !== "" && notify.trim() === "")
    throw new UserError("--notify takes a command", { hint: `--notify 'notify-send "$SSHOAL_SUMMARY"'` });
  return { command: notify ?? null, on: notifyOn ?? null };
}

/** Null: nothing was asked for. */
export function noticeOf({ command, on }: NotifyOptions): Notice | null {
  if (command !== null) return { command, on: on ?? "end" };
  if (on === null) return null;
  throw new UserError("--notify-on needs a command", {
    hint: `--notify 'notify-send "$SSHOAL_SUMMARY"' --notify-on ${on}`,
  });
}
