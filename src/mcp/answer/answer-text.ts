// The text of an answer: JSON of a bounded length, or an error in the words of the command line.

import { formatUserError, type UserError } from "../../errors.js";
import { cutText, shrink } from "./shrink.js";

/** Of the text of any answer. */
export const ANSWER_BYTES = 32_768;

export function answerText(answer: object): string {
  return JSON.stringify(shrink(answer, ANSWER_BYTES));
}

export function errorText(error: UserError): string {
  return cutText(formatUserError(error).trimEnd(), ANSWER_BYTES / 4);
}
