/** A call of a tool, as it stands in the conversation that is sent. */
export interface PendingCall {
  readonly id: string;
  readonly name: string;
}

/** The calls of a conversation: ids in the form of the dialect, each once, and the names that results do not have. */
export class PendingCalls {
  readonly #form: RegExp;
  readonly #used = new Set<string>();
  /** By the caller's id: the calls of the last reply that wait for a result. */
  readonly #open = new Map<string, PendingCall[]>();
  #made = 0;

  constructor(form: RegExp) {
    this.#form = form;
  }

  /** Takes note of a call, which waits for a result from now on. */
  ask(given: string, name: string): PendingCall {
    const called = { id: this.#toId(given), name };
    const waiting = this.#open.get(given);
    if (waiting === undefined) this.#open.set(given, [called]);
    else waiting.push(called);
    return called;
  }

  /** The call that a result is for; undefined if none waits for it. */
  answer(given: string): PendingCall | undefined {
    const waiting = this.#open.get(given);
    const called = waiting?.shift();
    if (waiting?.length === 0) this.#open.delete(given);
    return called;
  }

  /** The calls that got no result, in the order asked; none waits any more. */
  giveUp(): PendingCall[] {
    const left = [...this.#open.values()].flat();
    this.#open.clear();
    return left;
  }

  #toId(given: string): string {
    let id = given;
    for (; !this.#form.test(id) || this.#used.has(id); this.#made += 1) id = String(this.#made).padStart(9, '0');
    this.#used.add(id);
    return id;
  }
}
