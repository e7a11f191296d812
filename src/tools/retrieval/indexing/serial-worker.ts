/** Does one thing after the other, in the background, for as long as there is something to do. */
export class SerialWorker {
  readonly #next: () => Promise<void> | undefined;
  #work: Promise<void> | undefined;

  /** `next` begins the next thing, which never rejects; undefined if there is none. */
  constructor(next: () => Promise<void> | undefined) {
    this.#next = next;
  }

  /** To be called whenever there may be something to do. */
  start(): void {
    this.#work ??= this.#run();
  }

  /** Resolves when there is nothing more to do. */
  async idle(): Promise<void> {
    await this.#work;
  }

  async #run(): Promise<void> {
    // What asks for the first thing goes on before it begins.
    await undefined;
    for (let work = this.#next(); work !== undefined; work = this.#next()) await work;
    this.#work = undefined;
  }
}
