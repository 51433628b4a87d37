// What a machine did wrong, told apart from our own bugs.

import { UserError } from "../../errors.js";
import { RemoteError } from "../../remote/engine/remote-error.js";

export type ExpectedError = Error & { readonly hint: string | null };

/** Errors that tell what a machine did wrong carry a hint; anything else is our bug, or the user's to mend. */
export function isExpected(error: unknown): error is ExpectedError {
  return error instanceof Error && "hint" in error && !(error instanceof UserError);
}

/** Another client follows the batch on that machine. */
export class HeldError extends RemoteError {}
