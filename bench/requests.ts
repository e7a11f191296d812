/** Manner of upstream streams: all chunks immediately, 50 chunks per second, or a few per second for thousands of streams. */
export type Manner = 'at-once' | 'paced' | 'paced-slow';

/** Behavior of the upstream by manner. `chunks` 0 continues until the client disconnects. `model` is the deployment name. */
export const manners: Record<Manner, { model: string; chunks: number; intervalMs: number }> = {
  'at-once': { model: 'bench', chunks: 100, intervalMs: 0 },
  paced: { model: 'bench-paced', chunks: 0, intervalMs: 20 },
  'paced-slow': { model: 'bench-paced-slow', chunks: 0, intervalMs: 500 },
};

/** Dialect of the client. */
export type Dialect = 'chat' | 'messages' | 'responses';

/** A request without the path and headers of a contender. */
export interface Call {
  manner: Manner;
  dialect: Dialect;
  isStream: boolean;
  body: string;
}

const sampleText = 'The cost that a gateway adds to a call should be so small that no team has a reason to go around it. ';

function repeatText(bytes: number): string {
  return sampleText.repeat(Math.ceil(bytes / sampleText.length)).slice(0, bytes);
}

function toCall(manner: Manner, isStream: boolean, messages: readonly object[]): Call {
  const streaming = isStream ? { stream: true, stream_options: { include_usage: true } } : { stream: false };
  const body = JSON.stringify({ model: manners[manner].model, ...streaming, temperature: 0.7, max_tokens: 500, messages });
  return { manner, dialect: 'chat', isStream, body };
}

/** Deployments whose upstream does not use the chat dialect. */
export const dialectDeployments = { messages: 'bench-claude', responses: 'bench-responses' } as const;

/** Creates a streamed call of about 1 kB in another dialect. The upstream uses the same dialect or chat completions. */
export function createDialectCall(dialect: 'messages' | 'responses', mode: 'relayed' | 'translated'): Call {
  const manner = 'at-once';
  const model = mode === 'relayed' ? dialectDeployments[dialect] : manners[manner].model;
  const content =
    dialect === 'messages'
      ? { max_tokens: 500, system: repeatText(260), messages: [{ role: 'user', content: repeatText(480) }] }
      : { max_output_tokens: 500, store: false, instructions: repeatText(260), input: repeatText(480) };
  return { manner, dialect, isStream: true, body: JSON.stringify({ model, stream: true, temperature: 0.7, ...content }) };
}

/** Creates a call of about 1 kB with a system message and a question. */
export function createSmallCall(manner: Manner, isStream: boolean): Call {
  return toCall(manner, isStream, [
    { role: 'system', content: repeatText(260) },
    { role: 'user', content: repeatText(480) },
  ]);
}

/** Creates a conversation of about 200 kB with one hundred messages. */
export function createConversationCall(): Call {
  const messages = Array.from({ length: 100 }, (_, index) => ({
    role: index % 2 ? 'assistant' : 'user',
    content: repeatText(1960),
  }));
  return toCall('at-once', false, messages);
}

/** Creates a question about an image of about 1 MB in base64. */
export function createImageCall(): Call {
  const image = Buffer.alloc(750_000, 'pixels of no picture at all').toString('base64');
  const parts = [
    { type: 'text', text: repeatText(200) },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
  ];
  return toCall('at-once', false, [{ role: 'user', content: parts }]);
}

/** Returns the bytes of a request for the load generator. */
export function toRawRequest(path: string, headers: Record<string, string>, body: string): string {
  const all = {
    Host: '127.0.0.1',
    'Content-Type': 'application/json',
    ...headers,
    'Content-Length': String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
