import { FairQueue } from '#base/isolation/fair-queue.ts';
import { type IsolationBounds, IsolationError, runIsolated } from '#base/isolation/run-isolated.ts';
import { ToolError } from '#domain/tools/tool.ts';
import type { DocumentOutcome, DocumentTask } from './read-document.ts';

/** A text, where it is from, and whose it is. */
export interface DocumentText extends Omit<DocumentTask, 'url'> {
  readonly url: URL;
  /** Those of one owner wait for each other. */
  readonly owner: string;
}

/** Enough for two megabytes of YAML. */
const openApiBounds: IsolationBounds = { timeoutMs: 30_000, maxMemoryMb: 320 };
const maxWaitMs = 30_000;
const queueLimits = { slots: 2, maxWaiting: 8 };

/**
 * Reads OpenAPI documents, each in a process of its own: YAML, references and schemas can say a lot in few words. One for the process,
 * which starts nothing before the first document.
 */
export class OpenApiReader {
  readonly #bounds: IsolationBounds;
  readonly #queue = new FairQueue(queueLimits);

  constructor(bounds: IsolationBounds = openApiBounds) {
    this.#bounds = bounds;
  }

  /** Rejects with ToolFault, with IsolationFault `busy` if too many of the owner wait already. */
  async read({ text, url, choice, owner }: DocumentText): Promise<DocumentOutcome> {
    const signal = AbortSignal.timeout(this.#bounds.timeoutMs + maxWaitMs);
    try {
      const outcome = await this.#queue.run(owner, () => this.#run({ text, url: url.href, choice }, signal), signal);
      if (outcome.kind !== 'fault') return outcome;
      throw new ToolError(outcome.message);
    } catch (error) {
      throw signal.aborted ? new ToolError('there was no time to read it; try again later', error) : error;
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
    } catch (error) {
      throw error instanceof IsolationError ? new ToolError(`reading it failed: ${error.message}`, error) : error;
    }
  }
}
