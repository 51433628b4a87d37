// Requests that have the same key and come at the same time are done once, as by a client that lost its connection.

export class OncePerKey<T> {
  readonly #underWay = new Map<string, Promise<T>>();

  /** All that come before the end of the first get its answer. Undefined: the request has no key. */
  answer(key: string | undefined, act: () => Promise<T>): Promise<T> {
    if (key === undefined) return act();
    const known = this.#underWay.get(key);
    if (known !== undefined) return known;
    const answer = act().finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, answer);
    return answer;
  }
}
