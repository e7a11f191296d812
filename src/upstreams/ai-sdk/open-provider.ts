import type { GoogleVertexProviderSettings } from '@ai-sdk/google-vertex';
import type { EmbeddingModelV4, LanguageModelV4 } from '@ai-sdk/provider';
import { type HttpClient, HttpError } from '#base/http/client.ts';
import { toFetch } from '#base/http/to-fetch.ts';
import { trimEndSlashes } from '#base/http/url-path.ts';
import { defaultJsonBounds } from '#base/json/json.ts';
import { isEventStream } from '#base/net/guarded-fetch.ts';
import type { Clock } from '#base/time/clock.ts';
import { readUpstreamKey, secretsOfKey, type UpstreamKey } from '#contract/configuration/upstream-key.ts';
import { type Upstream, UpstreamError } from '#domain/upstreams/upstream.ts';
import { AccountToken } from '../account-token.ts';
import type { VendorName } from './dialect.ts';

type AuthOptions = NonNullable<GoogleVertexProviderSettings['googleAuthOptions']>;

const maxReplyBytes = 64 * 1024 * 1024;
const maxEventBytes = 16 * 1024 * 1024;
const maxTokenBytes = 1024 * 1024;

/** The models of one upstream. */
interface Provider {
  languageModel(id: string): LanguageModelV4;
  embeddingModel(id: string): EmbeddingModelV4;
}

export interface OpenProvider {
  readonly provider: Provider;
  /** What no error of it may show. */
  listSecrets(): readonly string[];
}

interface Settings {
  readonly key: UpstreamKey | undefined;
  readonly region: string | undefined;
  readonly common: {
    readonly baseURL?: string;
    readonly headers: Record<string, string>;
    readonly fetch: typeof globalThis.fetch;
  };
  readonly token: AccountToken | undefined;
}

const openers: Readonly<Record<VendorName, (settings: Settings) => Promise<Provider>>> = {
  gemini: openGemini,
  vertex: openVertex,
  bedrock: openBedrock,
  mistral: openMistral,
};

export interface ProviderDeps {
  readonly http: HttpClient;
  readonly clock: Pick<Clock, 'epochMs'>;
}

/** The vendor's package, loaded now, set up for one upstream: its requests go over `http`, once each. */
export async function openProvider(name: VendorName, upstream: Upstream, { http, clock }: ProviderDeps): Promise<OpenProvider> {
  const { endpoint, region, headers, timeouts } = upstream;
  const key = getKey(name, upstream);
  // Packages know `fetch` by the browser's type; what they hand over are texts and addresses.
  const send = toFetch(http, { timeouts, maxBytes: maxReplyBytes, maxEventBytes }) as typeof globalThis.fetch;
  const fetch: typeof send = async (...args) => boundEvents(await send(...args));
  const tokenFetch = toFetch(http, { timeouts, maxBytes: maxTokenBytes });
  const token = key?.kind === 'account' ? new AccountToken(key, { fetch: tokenFetch, clock }) : undefined;
  const common = { ...(endpoint && { baseURL: trimEndSlashes(endpoint.href) }), headers: { ...headers }, fetch };
  const provider = await openers[name]({ key, region, common, token });
  const secrets = key === undefined ? [] : secretsOfKey(key);
  return { provider, listSecrets: () => (token?.lastToken === undefined ? secrets : [...secrets, token.lastToken]) };
}

function getKey(name: VendorName, { key }: Upstream): UpstreamKey | undefined {
  if (key === undefined) return undefined;
  const parsedKey = readUpstreamKey(name, key.reveal());
  if ('fault' in parsedKey) throw new UpstreamError('broken', `Its key ${parsedKey.fault}.`);
  return parsedKey;
}

async function openGemini({ key, common }: Settings): Promise<Provider> {
  const { createGoogle } = await import('@ai-sdk/google');
  return createGoogle({ ...common, ...(key?.kind === 'token' && { apiKey: key.token }) });
}

async function openMistral({ key, common }: Settings): Promise<Provider> {
  const { createMistral } = await import('@ai-sdk/mistral');
  return createMistral({ ...common, ...(key?.kind === 'token' && { apiKey: key.token }) });
}

/** An empty `apiKey` keeps one of the environment from taking the place of what is configured. */
async function openBedrock({ key, region, common }: Settings): Promise<Provider> {
  const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
  const fetch: typeof globalThis.fetch = async (...args) => alignFrames(await common.fetch(...args));
  const settings = { ...common, fetch, ...(region !== undefined && { region }) };
  if (key?.kind === 'token') return createAmazonBedrock({ ...settings, apiKey: key.token });
  if (key?.kind !== 'signing') return createAmazonBedrock(settings);
  const { accessKeyId, secretAccessKey, sessionToken } = key;
  return createAmazonBedrock({
    ...settings,
    ...{ apiKey: '', accessKeyId, secretAccessKey },
    ...(sessionToken !== undefined && { sessionToken }),
  });
}

async function openVertex({ key, region, common, token }: Settings): Promise<Provider> {
  const { createGoogleVertex } = await import('@ai-sdk/google-vertex');
  const settings = { ...common, ...(region !== undefined && { location: region }) };
  if (key?.kind === 'token') return createGoogleVertex({ ...settings, apiKey: key.token });
  if (key?.kind !== 'account') return createGoogleVertex(settings);
  // Of the library's clients the package asks for nothing else.
  const authClient = { getAccessToken: async () => ({ token: await token?.getCurrent() }) };
  const googleAuthOptions = { authClient } as unknown as AuthOptions;
  return createGoogleVertex({ ...settings, apiKey: '', project: key.projectId, googleAuthOptions });
}

/** Length of the whole, length of the header fields, their sum. */
const preludeBytes = 12;
/** With the sum of the whole at its end. */
const minFrameBytes = 16;
const maxFrameBytes = 16 * 1024 * 1024;
const frameType = 'application/vnd.amazon.eventstream';

/**
 * The same response; a stream of frames of AWS comes frame by frame: who reads it joins what waits with each read, which takes
 * quadratic time for a frame that never ends. One that says it is longer than 16 MiB, or shorter than a frame can be, is a fault.
 */
export function alignFrames(response: Response): Response {
  const { body, headers, status, statusText } = response;
  if (body === null || !headers.get('content-type')?.includes(frameType)) return response;
  const frames = new FrameSplitter();
  const aligned = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      const complete = frames.push(piece);
      if (complete.length > 0) controller.enqueue(complete);
    },
    flush(controller) {
      const { rest } = frames;
      if (rest.length > 0) controller.enqueue(rest);
    },
  });
  return new Response(body.pipeThrough(aligned), { headers, status, statusText });
}

/** Cuts bytes where whole frames end. Each byte is copied twice at most, however it comes. */
class FrameSplitter {
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** As many bytes must be there before it can go on. */
  #neededBytes = preludeBytes;

  /** The whole frames that are there now. Throws HttpFault. */
  push(piece: Uint8Array): Uint8Array {
    this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
    if (this.#waitingBytes < this.#neededBytes) return new Uint8Array();
    const buffered = this.rest;
    const end = this.#findFramesEnd(buffered);
    this.#waiting = end === buffered.length ? [] : [buffered.subarray(end)];
    this.#waitingBytes = buffered.length - end;
    return buffered.subarray(0, end);
  }

  /** What no whole frame has come of. */
  get rest(): Buffer {
    return Buffer.concat(this.#waiting);
  }

  #findFramesEnd(bytes: Buffer): number {
    let position = 0;
    for (;;) {
      this.#neededBytes = preludeBytes;
      if (bytes.length - position < preludeBytes) return position;
      const length = bytes.readUInt32BE(position);
      if (length < minFrameBytes || length > maxFrameBytes)
        throw new HttpError('malformed', `a frame of its events says that it has ${length} bytes`);
      this.#neededBytes = length;
      if (bytes.length - position < length) return position;
      position += length;
    }
  }
}

/** The level of the parts of a reply, `candidates[].content.parts[]` or `choices[].delta.content[]`. */
const partsDepth = 5;
/** Packages compare each part with all forms of parts, and write a text about each that has none: 100,000 take 5 seconds. */
const maxParts = 2_000;
const [lf, cr, quote, backslash, comma] = [10, 13, 34, 92, 44];
const openings: ReadonlySet<number> = new Set([91, 123]);
const closings: ReadonlySet<number> = new Set([93, 125]);

/** Returns the response with a bound on the items of each event of its stream. An event beyond it fails with UpstreamFault. */
function boundEvents(response: Response): Response {
  const { body, headers, status, statusText } = response;
  if (body === null || !isEventStream(response)) return response;
  const counter = new ItemCounter();
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      if (counter.push(piece)) controller.enqueue(piece);
      else controller.error(new UpstreamError('broken', 'The upstream sent an event with too many items.'));
    },
  });
  return new Response(body.pipeThrough(bounded), { headers, status, statusText });
}

/** Counts the items of JSON in events. A piece can end inside an event. */
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
  push(piece: Uint8Array): boolean {
    for (const byte of piece) {
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
