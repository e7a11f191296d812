import { FairQueue } from '#base/isolation/fair-queue.ts';
import { type IsolationBounds, IsolationError, runIsolated } from '#base/isolation/isolated-process.ts';
import { ToolError } from '#domain/tools/tool.ts';
import type { DocumentOutcome, DocumentTask } from './read-document.ts';

/** The text of a document, its address, and its owner. */
export interface DocumentText extends Omit<DocumentTask, 'url'> {
  readonly url: URL;
  /** Documents of the same owner wait for each other. */
  readonly owner: string;
}

/** Sufficient for two megabytes of YAML. */
const openApiBounds: IsolationBounds = { timeoutMs: 30_000, maxMemoryMb: 320 };
const maxWaitMs = 30_000;
const queueLimits = { slots: 2, maxWaiting: 8 };

/**
 * Reads each OpenAPI document in a separate process, because small documents with YAML aliases, references, or schemas can need
 * excessive time and memory. Create one per process. No process starts before the first document.
 */
export class OpenApiReader {
  readonly #bounds: IsolationBounds;
  readonly #queue = new FairQueue(queueLimits);

  constructor(bounds: IsolationBounds = openApiBounds) {
    this.#bounds = bounds;
  }

  /**
   * Rejects with `ToolError`, or with an `IsolationError` for the reason `busy` if too many documents of the owner are waiting.
   */
  async readDocument({ text, url, choice, owner }: DocumentText): Promise<DocumentOutcome> {
    const signal = AbortSignal.timeout(this.#bounds.timeoutMs + maxWaitMs);
    try {
      const outcome = await this.#queue.run(owner, () => this.#run({ text, url: url.href, choice }, signal), signal);
      if (outcome.kind !== 'error') return outcome;
      throw new ToolError(outcome.message);
    } catch (error) {
      throw signal.aborted ? new ToolError('reading it timed out. Try again later', error) : error;
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
