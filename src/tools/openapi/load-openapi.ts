import { type HttpClient, HttpError } from '#base/http/client.ts';
import { readText } from '#base/http/read-reply.ts';
import { FairQueue } from '#base/isolation/fair-queue.ts';
import { type IsolationBounds, IsolationError, runIsolated } from '#base/isolation/isolated-process.ts';
import { openFollowingRedirects } from '#base/net/follow-redirects.ts';
import { ToolError } from '#domain/tools/tool.ts';
import type { DocumentOutcome, DocumentTask } from './read-document.ts';
import type { OpenApiTools } from './to-rest-tools.ts';
import type { ImportedApi, OperationSelection } from './to-toolsets.ts';

const defaultMaxBytes = 8 * 1024 * 1024;

/** Dependencies and bounds for loading a document. */
export interface LoadOptions {
  /** HTTP client with a network guard. */
  readonly http: HttpClient;
  readonly reader: OpenApiReader;
  /** Owner of the document. Documents of the same owner wait for each other. */
  readonly owner: string;
  readonly connectMs: number;
  /** Maximum number of milliseconds for the download. The reader limits the time for reading. */
  readonly timeoutMs: number;
  /** Maximum size of a document in bytes. Defaults to 8 MiB. */
  readonly maxBytes?: number;
}

/**
 * Fetches an OpenAPI document, or a plugin manifest and the document that it points to. Rejects with `ToolError`, or with an
 * `IsolationError` for the reason `busy`.
 */
export async function loadOpenApi(url: URL, options: LoadOptions): Promise<OpenApiTools> {
  const outcome = await loadDocument(url, undefined, options);
  return outcome.kind === 'tools' ? outcome.api : rejectManifest();
}

/** Loads a document, or the document that a plugin manifest points to. */
async function loadDocument(url: URL, selection: OperationSelection | undefined, options: LoadOptions): Promise<DocumentOutcome> {
  const signal = AbortSignal.timeout(options.timeoutMs);
  const readFrom = async (address: URL): Promise<DocumentOutcome> => {
    const fetched = await fetchText(address, options, signal);
    return options.reader.readDocument({ ...fetched, selection, owner: options.owner });
  };
  const first = await readFrom(url);
  return first.kind === 'manifest' ? readFrom(new URL(first.target)) : first;
}

/** Throws for a manifest that points to another manifest, and for a manifest in place of a document. */
function rejectManifest(): never {
  throw new ToolError('not an OpenAPI document or plugin manifest');
}

async function fetchText(
  url: URL,
  { http, connectMs, timeoutMs, maxBytes = defaultMaxBytes }: LoadOptions,
  signal: AbortSignal,
): Promise<{ text: string; url: URL }> {
  const request = {
    method: 'GET' as const,
    url,
    headers: { accept: 'application/json, application/yaml, text/yaml;q=0.9, */*;q=0.8', 'accept-encoding': 'identity' },
    body: null,
    timeouts: { connectMs, firstByteMs: timeoutMs, idleMs: timeoutMs },
  };
  try {
    const { reply, url: finalUrl } = await openFollowingRedirects(http, request, signal);
    const text = await readText(reply, maxBytes);
    if (reply.status !== 200) throw new ToolError(`its server returned HTTP ${reply.status}`);
    return { text, url: finalUrl };
  } catch (error) {
    if (error instanceof HttpError) throw new ToolError(error.message, error);
    throw error instanceof ToolError ? error : new ToolError(`the download took longer than ${timeoutMs / 1000} s`, error);
  }
}

/** A document to import. If `text` is undefined, it is downloaded from `url`. Otherwise `url` is the base URL of its servers. */
interface DocumentInput {
  readonly text: string | undefined;
  readonly url: URL;
}

/**
 * Converts an OpenAPI document (2.0, 3.0, 3.1, JSON or YAML) to entries of a quick app's `web_api_toolset`. Rejects with
 * `ToolError`, or with an `IsolationError` for the reason `busy`.
 */
export async function importOpenApi(
  { text, url }: DocumentInput,
  selection: OperationSelection,
  options: LoadOptions,
): Promise<ImportedApi> {
  const outcome =
    text === undefined
      ? await loadDocument(url, selection, options)
      : await options.reader.readDocument({ text, url, selection, owner: options.owner });
  return outcome.kind === 'toolsets' ? outcome.imported : rejectManifest();
}

/** The text of a document, its address, and its owner. */
export interface OwnedDocument extends Omit<DocumentTask, 'url'> {
  readonly url: URL;
  /** Documents of the same owner wait for each other. */
  readonly owner: string;
}

/** Bounds of the process for one document. Sufficient for two megabytes of YAML. */
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
  async readDocument({ text, url, selection, owner }: OwnedDocument): Promise<DocumentOutcome> {
    const signal = AbortSignal.timeout(this.#bounds.timeoutMs + maxWaitMs);
    try {
      const outcome = await this.#queue.run(owner, () => this.#run({ text, url: url.href, selection }, signal), signal);
      if (outcome.kind !== 'error') return outcome;
      throw new ToolError(outcome.message);
    } catch (error) {
      throw signal.aborted ? new ToolError('reading it timed out. Try again later', error) : error;
    }
  }

  async #run({ text, ...task }: DocumentTask, signal: AbortSignal): Promise<DocumentOutcome> {
    const work = {
      program: new URL('./openapi-process.ts', import.meta.url),
      task,
      bytes: Buffer.from(text),
      bounds: this.#bounds,
      signal,
    };
    try {
      const [outcome] = (await runIsolated(work)) as [DocumentOutcome];
      return outcome;
    } catch (error) {
      throw error instanceof IsolationError ? new ToolError(`reading it failed: ${error.message}`, error) : error;
    }
  }
}
