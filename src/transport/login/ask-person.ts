// Asking the person at the terminal. Null in place of an Ask: no person is there, and nothing may wait for an answer.

export interface Ask {
  /** What was typed, unseen; null: they would rather not say. Questions wait for each other. */
  passphrase(prompt: string): Promise<string | null>;
}
