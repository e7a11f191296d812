import type { HttpClient } from '#base/http/client.ts';
import { toFetch } from '#base/http/to-fetch.ts';
import { defaultJsonBounds } from '#base/json/json.ts';
import { isEventStream } from '#base/net/guarded-fetch.ts';
import { trimEnd } from '#base/text/truncate.ts';
import type { Clock } from '#base/time/clock.ts';
import { listKeySecrets, readUpstreamKey, type UpstreamKey } from '#contract/configuration/upstream-key.ts';
import { type Upstream, UpstreamError } from '#domain/upstreams/upstream.ts';
import { AccountToken } from '../account-token.ts';
import type { Provider, Vendor } from './vendor.ts';

const maxReplyBytes = 64 * 1024 * 1024;
const maxEventBytes = 16 * 1024 * 1024;
const maxTokenReplyBytes = 1024 * 1024;

/** A provider for one upstream. */
export interface OpenedProvider {
  readonly provider: Provider;
  /** Returns the secrets to mask in errors. */
  listSecrets(): readonly string[];
}

export interface ProviderDeps {
  readonly http: HttpClient;
  readonly clock: Pick<Clock, 'epochMs'>;
}

/** Loads the vendor's package and sets it up for one upstream. The provider sends its requests through `http`, without retries. */
export async function openProvider(vendor: Vendor, upstream: Upstream, { http, clock }: ProviderDeps): Promise<OpenedProvider> {
  const { endpoint, region, headers, timeouts } = upstream;
  const key = getKey(vendor.name, upstream);
  // The packages expect the browser's type of `fetch`, but pass only strings and URLs.
  const send = toFetch(http, { timeouts, maxBytes: maxReplyBytes, maxEventBytes }) as typeof globalThis.fetch;
  const fetch: typeof send = async (...args) => boundEvents(await send(...args));
  const tokenFetch = toFetch(http, { timeouts, maxBytes: maxTokenReplyBytes });
  const token = key?.kind === 'account' ? new AccountToken(key, { fetch: tokenFetch, clock }) : undefined;
  const common = { ...(endpoint && { baseURL: trimEnd(endpoint.href, '/') }), headers: { ...headers }, fetch };
  const provider = await vendor.open({ key, region, common, token });
  const secrets = key === undefined ? [] : listKeySecrets(key);
  return { provider, listSecrets: () => (token?.lastToken === undefined ? secrets : [...secrets, token.lastToken]) };
}

function getKey(name: Vendor['name'], { key }: Upstream): UpstreamKey | undefined {
  if (key === undefined) return undefined;
  const parsedKey = readUpstreamKey(name, key.reveal());
  if ('error' in parsedKey) throw new UpstreamError('broken', `Its key ${parsedKey.error}.`);
  return parsedKey;
}

/** Depth of the parts of a reply, `candidates[].content.parts[]` or `choices[].delta.content[]`. */
const partsDepth = 5;
/** The packages compare each part with all known schemas and report each unknown part, which takes 5 seconds for 100,000 parts. */
const maxParts = 2_000;
const [lf, cr, quote, backslash, comma] = [10, 13, 34, 92, 44];
const openings: ReadonlySet<number> = new Set([91, 123]);
const closings: ReadonlySet<number> = new Set([93, 125]);

/** Limits the parts, JSON nodes, and depth of each event. The stream fails with `UpstreamError` if an event exceeds a limit. */
function boundEvents(response: Response): Response {
  const { body, headers, status, statusText } = response;
  if (body === null || !isEventStream(response)) return response;
  const counter = new ItemCounter();
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (counter.push(chunk)) controller.enqueue(chunk);
      else controller.error(new UpstreamError('broken', 'The upstream sent an event with too many items.'));
    },
  });
  return new Response(body.pipeThrough(bounded), { headers, status, statusText });
}

/** Counts the JSON items of each event. A chunk can end inside an event. */
class ItemCounter {
  #last = lf;
  #lineLength = 0;
  #isInString = false;
  #isEscaped = false;
  #depth = 0;
  #parts = 0;
  #nodes = 0;
  #isWithinBounds = true;

  /** Returns whether all events are within their bounds so far. */
  push(chunk: Uint8Array): boolean {
    for (const byte of chunk) {
      if (byte === lf || byte === cr) this.#endLine(byte);
      else if (this.#isInString) this.#readString(byte);
      else this.#readStructure(byte);
      this.#last = byte;
    }
    return this.#isWithinBounds;
  }

  #readStructure(byte: number): void {
    this.#lineLength += 1;
    if (byte === quote) this.#isInString = true;
    if (closings.has(byte)) this.#depth -= 1;
    if (openings.has(byte)) this.#depth += 1;
    else if (byte !== comma) return;
    this.#nodes += 1;
    if (this.#depth <= partsDepth) this.#parts += 1;
    const { maxNodes, maxDepth } = defaultJsonBounds;
    if (this.#parts > maxParts || this.#nodes > maxNodes || this.#depth > maxDepth) this.#isWithinBounds = false;
  }

  #readString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#isInString = false;
  }

  /** A string has no line breaks, and an empty line ends an event. */
  #endLine(byte: number): void {
    this.#isInString = false;
    this.#isEscaped = false;
    const isSecondHalf = byte === lf && this.#last === cr;
    if (this.#lineLength === 0 && !isSecondHalf) {
      this.#depth = 0;
      this.#parts = 0;
      this.#nodes = 0;
    }
    this.#lineLength = 0;
  }
}
