// Distinguishes faults of a machine from our own bugs.

import { UserError } from "../../errors.js";
import { RemoteError } from "../../remote/engine/remote-error.js";

export type ExpectedError = Error & { readonly hint: string | null };

/** Errors about a machine carry a hint. Any other error is our bug, or one that the user can fix. */
export function isExpected(error: unknown): error is ExpectedError {
  return error instanceof Error && "hint" in error && !(error instanceof UserError);
}

/** Another client follows the batch on that machine. */
export class HeldError extends RemoteError {}
