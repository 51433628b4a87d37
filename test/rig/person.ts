// A person who is asked at the terminal.

import type { Ask } from "../../src/transport/login/ask-person.js";

/** Gives these answers, one after the other. `asked`: the questions so far. */
export function person(...answers: (string | null)[]): { readonly ask: Ask; readonly asked: string[] } {
  const asked: string[] = [];
  const ask: Ask = {
    async passphrase(prompt) {
      asked.push(prompt);
      return answers.shift() ?? null;
    },
  };
  return { ask, asked };
}
