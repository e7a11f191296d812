import { FairQueue } from '#base/isolation/fair-queue.ts';
import { type IsolationBounds, IsolationFault, runIsolated } from '#base/isolation/run-isolated.ts';
import { ToolFault } from '#domain/tools/tool.ts';
import type { DocumentOutcome, DocumentTask } from './read-document.ts';

/** A text, where it is from, and whose it is. */
export interface DocumentText extends Omit<DocumentTask, 'url'> {
  readonly url: URL;
  /** Those of one owner wait for each other. */
  readonly owner: string;
}

/** Enough for two megabytes of YAML. */
const openApiBounds: IsolationBounds = { timeoutMs: 30_000, maxMemoryMb: 320 };
const longestWaitMs = 30_000;
const atOnce = { slots: 2, maxWaiting: 8 };

/**
 * Reads OpenAPI documents, each in a process of its own: YAML, references and schemas can say a lot in few words. One for the process,
 * which starts nothing before the first document.
 */
export class OpenApiReader {
  readonly #bounds: IsolationBounds;
  readonly #queue = new FairQueue(atOnce);

  constructor(bounds: IsolationBounds = openApiBounds) {
    this.#bounds = bounds;
  }

  /** Rejects with ToolFault, with IsolationFault `busy` if too many of the owner wait already. */
  async read({ text, url, choice, owner }: DocumentText): Promise<DocumentOutcome> {
    const signal = AbortSignal.timeout(this.#bounds.timeoutMs + longestWaitMs);
    try {
      const outcome = await this.#queue.run(owner, () => this.#run({ text, url: url.href, choice }, signal), signal);
      if (outcome.kind !== 'fault') return outcome;
      throw new ToolFault(outcome.message);
    } catch (thrown) {
      throw signal.aborted ? new ToolFault('there was no time to read it; try again later', thrown) : thrown;
    }
  }

  async #run({ text, ...task }: DocumentTask, signal: AbortSignal): Promise<DocumentOutcome> {
    const work = {
      program: new URL('./openapi-process.ts', import.meta.url),
      ...{ task, bytes: Buffer.from(text), bounds: this.#bounds, signal },
    };
    try {
      const [outcome] = (await runIsolated(work)) as [DocumentOutcome];
      return outcome;
    } catch (thrown) {
      throw thrown instanceof IsolationFault ? new ToolFault(`reading it failed: ${thrown.message}`, thrown) : thrown;
    }
  }
}
