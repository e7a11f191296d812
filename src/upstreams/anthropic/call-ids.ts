const barred = /[^a-zA-Z0-9_-]/g;

/** Ids of tool calls as the dialect wants them: letters, digits, `_` and `-`, each once in a conversation. */
export class CallIds {
  readonly #timesUsed = new Map<string, number>();
  /** By the caller's id: the calls of the last assistant turn that wait for a result. */
  readonly #open = new Map<string, string[]>();

  /** The id that a call of the assistant is sent under; it waits for a result from now on. */
  ask(given: string): string {
    const sent = this.#unused(given.replace(barred, '_') || 'call');
    const waiting = this.#open.get(given);
    if (waiting === undefined) this.#open.set(given, [sent]);
    else waiting.push(sent);
    return sent;
  }

  /** The id that a result is sent under; undefined where no call waits for it. */
  answer(given: string): string | undefined {
    const waiting = this.#open.get(given);
    const sent = waiting?.shift();
    if (waiting?.length === 0) this.#open.delete(given);
    return sent;
  }

  /** The ids of calls that got no result, in the order asked; none waits any more. */
  giveUp(): string[] {
    const left = [...this.#open.values()].flat();
    this.#open.clear();
    return left;
  }

  #unused(id: string): string {
    let unused = id;
    for (let times = this.#timesUsed.get(id) ?? 0; this.#timesUsed.has(unused); times += 1) {
      unused = `${id}_${times + 1}`;
      this.#timesUsed.set(id, times + 1);
    }
    this.#timesUsed.set(unused, 1);
    return unused;
  }
}
