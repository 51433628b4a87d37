// Asks the person at the terminal. If an Ask is null, there is no person, and nothing may wait for an answer.

export interface Ask {
  /** What the person typed, without echo; null if they gave no answer. Questions are asked one at a time. */
  passphrase(prompt: string): Promise<string | null>;
}
