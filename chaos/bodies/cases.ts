import { getChatPath } from '#test/start-service.ts';

const megabyte = 2 ** 20;
const fill = (unit: string, megabytes: number): string =>
  unit.repeat(Math.floor((megabytes * megabyte) / Buffer.byteLength(unit)));

/** A large request. */
export interface LargeRequest {
  readonly name: string;
  readonly path: string;
  readonly toBody: () => string;
}

const toChatBody = (content: string): string =>
  `{"model":"free","max_tokens":9,"messages":[{"role":"user","content":"${content}"}]}`;

/** Lists one request of each kind that takes long to read. */
export function largeRequests(): readonly LargeRequest[] {
  const contents: Readonly<Record<string, () => string>> = {
    'spaces, 60 MB': () => `{"messages":[]${fill(' ', 60)}}`,
    'quotes, 60 MB': () => fill('"', 60),
    'empty lists, 60 MB': () => `[${fill('[],', 60)}1]`,
    'one text, 60 MB': () => toChatBody(fill('abcdefgh', 60)),
    'one text of two bytes a letter, 60 MB': () => toChatBody(fill('é', 60)),
    'escaped quotes, 10 MB': () => toChatBody(fill('\\"', 10)),
    'line breaks, 5 MB': () => toChatBody(fill('line\\n', 5)),
    'texts of one letter, 1 MB': () =>
      `{"messages":[{"role":"user","content":[${fill('{"type":"text","text":"x"},', 1)}{"type":"text","text":"x"}]}]}`,
    'numbers, 2 MB': () => `{"messages":[{"role":"user","content":"x"}],"metadata":[${fill('1234567,', 2)}1]}`,
    'nested, 64 levels': () => `{"messages":[{"role":"user","content":"x"}],"metadata":${'['.repeat(60)}${']'.repeat(60)}}`,
  };
  const paths = [getChatPath('free'), '/msgapi/v1/messages', '/v1/responses'];
  return [
    ...paths.flatMap((path) => Object.entries(contents).map(([name, toBody]) => ({ name: `${name} at ${path}`, path, toBody }))),
    ...Object.entries(schemas).map(([name, schema]) => ({
      name: `a schema of a control: ${name}`,
      path: getChatPath('demo'),
      toBody: () => JSON.stringify(controlled(schema)),
    })),
  ];
}

/** Schemas of 16 kB, the permitted maximum, that take long to compile. */
const schemas: Readonly<Record<string, object>> = {
  'many properties': {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`p${index}`, { type: 'string' }])),
  },
  alternatives: { anyOf: Array.from({ length: 300 }, (_, index) => ({ type: 'object', required: [`p${index}`] })) },
  patterns: {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`p${index}`, { pattern: `^a{1,${index}}$` }])),
  },
  nested: Array.from({ length: 25 }).reduce<object>((inner) => ({ type: 'object', properties: { a: inner } }), {}),
};

/** Creates a request with a submitted control of an earlier reply. */
function controlled(schema: object): object {
  const control = { index: 0, label: 'Go', schema };
  return {
    messages: [
      { role: 'user', content: 'Show me controls' },
      { role: 'assistant', content: 'Here.', custom_content: { controls: [control] } },
      { role: 'user', content: '', custom_content: { completed_control: { label: 'Go', value: { a: 'b' } } } },
    ],
  };
}

/** A large complete reply of an upstream, and the requests that trigger it. */
export interface LargeReply {
  readonly name: string;
  readonly toBytes: () => Buffer;
  readonly requests: readonly { readonly path: string; readonly body: object }[];
  /** Additional fields of the model. */
  readonly fields?: object;
}

/** Lists one reply of each kind. */
export function largeReplies(): readonly LargeReply[] {
  const texts: Readonly<Record<string, () => string>> = {
    'text of 20 MB': () => fill('abcdefgh', 20),
    'text of 20 MB with line breaks': () => fill('A line of some letters.\\n', 20),
    'letters of two bytes, 20 MB': () => fill('é', 20),
  };
  const chats = Object.entries(texts).map(([name, toText]): LargeReply => {
    const messages = [{ role: 'user', content: 'Hi' }];
    return {
      name,
      toBytes: () =>
        Buffer.from(
          `{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"${toText()}"},"finish_reason":"stop"}]}`,
        ),
      requests: [
        { path: getChatPath(encodeURIComponent(name)), body: { messages } },
        { path: '/msgapi/v1/messages', body: { model: name, max_tokens: 9, messages } },
        { path: '/v1/responses', body: { model: name, input: 'Hi', store: false } },
      ],
    };
  });
  const numbers = Array.from({ length: 3072 }, (_, index) => Math.sin(index)).join();
  const vectors = (count: number): LargeReply => ({
    name: `${count} vectors of numbers`,
    fields: { type: 'embedding' },
    toBytes: () =>
      Buffer.from(
        `{"object":"list","model":"m","data":[${Array.from({ length: count }, (_, index) => `{"object":"embedding","index":${index},"embedding":[${numbers}]}`).join()}],"usage":{"prompt_tokens":1,"total_tokens":1}}`,
      ),
    requests: [
      { path: '/v1/embeddings', body: { model: `${count} vectors of numbers`, input: Array.from({ length: count }, () => 'x') } },
    ],
  });
  return [...chats, vectors(100)];
}
