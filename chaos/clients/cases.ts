/** One step of a client on the connection. */
export type Move =
  | string
  | Buffer
  | { readonly kind: 'wait'; readonly ms: number }
  /** Sends the same bytes repeatedly while the service accepts them. */
  | { readonly kind: 'drip'; readonly text: string; readonly times: number; readonly everyMs: number }
  /** Ends the sending side and continues to read. */
  | { readonly kind: 'half-close' }
  /** Does not read for this time. */
  | { readonly kind: 'deaf'; readonly ms: number }
  | { readonly kind: 'leave' }
  | { readonly kind: 'reset' };

/** The moves of one client, and the answers that the service may send. */
export interface CallerCase {
  readonly name: string;
  readonly moves: readonly Move[];
  /** Permitted statuses of each answer in order. An empty list permits any status. Fewer answers may arrive if `mayEnd`. */
  readonly answers: readonly (readonly number[])[];
  /** Whether the connection may end before all answers have arrived. */
  readonly mayEnd: boolean;
}

export interface Means {
  readonly key: string;
}

const wait = (ms: number): Move => ({ kind: 'wait', ms });
const disconnect: Move = { kind: 'leave' };
const reset: Move = { kind: 'reset' };
const halfClose: Move = { kind: 'half-close' };

const chatPath = '/v1/chat/completions';
const any: readonly number[] = [];

function toBody(isStream: boolean, prompt = 'Hi'): string {
  return JSON.stringify({ model: 'free', stream: isStream, messages: [{ role: 'user', content: prompt }] });
}

function post(key: string, body: string, fields: readonly string[] = [`content-length: ${Buffer.byteLength(body)}`]): string {
  return `POST ${chatPath} HTTP/1.1\r\nhost: x\r\napi-key: ${key}\r\ncontent-type: application/json\r\n${fields.join('\r\n')}\r\n\r\n${body}`;
}

function chunked(body: string): string {
  return `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`;
}

const chunkedField = 'transfer-encoding: chunked';
const get = (path: string, fields: readonly string[] = []): string =>
  `GET ${path} HTTP/1.1\r\n${['host: x', ...fields].join('\r\n')}\r\n\r\n`;

/** Clients that disconnect in each phase, with or without a proper close. */
function leavings(key: string): readonly CallerCase[] {
  const [request, stream] = [post(key, toBody(false)), post(key, toBody(true, 'pieces 50'))];
  const phases: Readonly<Record<string, readonly Move[]>> = {
    'before a byte': [],
    'in the request line': [request.slice(0, 10)],
    'in the head': [request.slice(0, 60)],
    'after the head': [request.slice(0, request.indexOf('\r\n\r\n') + 4)],
    'in the body': [request.slice(0, -10)],
    'with the last byte': [request],
    'before the stream begins': [stream, wait(5)],
    'in the stream': [stream, wait(150)],
    'in a chunk of the body': [post(key, '', [chunkedField]), '20\r\nabc'],
  };
  return Object.entries(phases).flatMap(([where, moves]) =>
    Object.entries({ leaves: disconnect, resets: reset }).map(
      ([how, last]): CallerCase => ({
        name: `${how} ${where}`,
        moves: [...moves, last],
        answers: [],
        mayEnd: true,
      }),
    ),
  );
}

/** Unusual but harmless requests. */
function oddities(key: string): readonly CallerCase[] {
  const body = toBody(false);
  const request = post(key, body);
  const good = [[200]];
  const length = `content-length: ${body.length}`;
  const bytes = [...request].flatMap((char): Move[] => [char, wait(1)]);
  return [
    { name: 'says no more and reads', moves: [request, halfClose], answers: good, mayEnd: true },
    {
      name: 'says no more and reads a stream',
      moves: [post(key, toBody(true, 'pieces 5')), halfClose],
      answers: good,
      mayEnd: true,
    },
    { name: 'sends a byte at a time', moves: bytes, answers: good, mayEnd: false },
    {
      name: 'sends five concurrent requests',
      moves: [request.repeat(5)],
      answers: Array.from({ length: 5 }, () => [200]),
      mayEnd: false,
    },
    {
      name: 'sends a stream and two concurrent requests',
      moves: [post(key, toBody(true)) + request + get('/health')],
      answers: [[200], [200], [200]],
      mayEnd: false,
    },
    {
      name: 'sends 200 small concurrent requests',
      moves: [get('/health').repeat(200)],
      answers: Array.from({ length: 200 }, () => [200]),
      mayEnd: false,
    },
    { name: 'disconnects with five in progress', moves: [request.repeat(5), wait(2), disconnect], answers: [], mayEnd: true },
    {
      name: 'waits for 100',
      moves: [post(key, '', [length, 'expect: 100-continue']), wait(100), body],
      answers: good,
      mayEnd: false,
    },
    {
      name: 'expects 100 and never sends',
      moves: [post(key, '', [length, 'expect: 100-continue']), wait(200), disconnect],
      answers: [],
      mayEnd: true,
    },
    { name: 'expects something else', moves: [post(key, body, [length, 'expect: 200-ok'])], answers: [[417]], mayEnd: true },
    {
      name: 'expects 100 with a wrong key',
      moves: [post('nobody', body, [length, 'expect: 100-continue'])],
      answers: [[401]],
      mayEnd: true,
    },
    { name: 'sends chunks', moves: [post(key, chunked(body), [chunkedField])], answers: good, mayEnd: false },
    {
      name: 'sends chunks with extensions and trailers',
      moves: [post(key, `${body.length.toString(16)};a=b\r\n${body}\r\n0\r\nx: y\r\n\r\n`, [chunkedField])],
      answers: good,
      mayEnd: false,
    },
    { name: 'asks to upgrade', moves: [get('/health', ['connection: upgrade', 'upgrade: h2c'])], answers: [[200]], mayEnd: true },
    {
      name: 'asks for a WebSocket',
      moves: [
        get('/v1/responses', [
          'connection: upgrade',
          'upgrade: websocket',
          'sec-websocket-version: 13',
          'sec-websocket-key: eHh4eHh4eHh4eHh4eHh4eA==',
        ]),
      ],
      answers: [[400, 401, 404, 405, 426]],
      mayEnd: true,
    },
    {
      name: 'speaks HTTP/1.0',
      moves: [`POST ${chatPath} HTTP/1.0\r\napi-key: ${key}\r\ncontent-type: application/json\r\n${length}\r\n\r\n${body}`],
      answers: good,
      mayEnd: true,
    },
    {
      name: 'pauses the reading of a stream',
      moves: [post(key, toBody(true, 'pieces 30')), { kind: 'deaf', ms: 1_500 }],
      answers: good,
      mayEnd: false,
    },
    {
      name: 'drips its body',
      moves: [
        post(key, '', [length]),
        { kind: 'drip', text: body.slice(0, 1), times: 1, everyMs: 10 },
        body.slice(1, 20),
        wait(300),
        body.slice(20),
      ],
      answers: good,
      mayEnd: false,
    },
    {
      name: 'drips its head and gives up',
      moves: ['POST / HTTP/1.1\r\n', { kind: 'drip', text: 'x-a: 1\r\n', times: 20, everyMs: 20 }, disconnect],
      answers: [],
      mayEnd: true,
    },
  ];
}

/**
 * Requests that two parsers could read differently. The service must reject them or read them in one way, with one answer each.
 */
function smuggling(key: string): readonly CallerCase[] {
  const inner = 'GET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n';
  const body = `0\r\n\r\n${inner}`;
  const fields: Readonly<Record<string, readonly string[]>> = {
    'a length and chunks': [`content-length: ${body.length}`, chunkedField],
    'chunks and a length': [chunkedField, 'content-length: 4'],
    'two lengths': ['content-length: 5', `content-length: ${body.length}`],
    'two lengths in one': [`content-length: 5, ${body.length}`],
    'a length with a sign': [`content-length: +${body.length}`],
    'a length of two words': ['content-length: 5 5'],
    'a length in hex': ['content-length: 0x5'],
    'chunks, misspelt': ['transfer-encoding: xchunked', `content-length: ${body.length}`],
    'chunks with a tab': ['transfer-encoding:\tchunked', `content-length: ${body.length}`],
    'chunks behind another': ['transfer-encoding: gzip, chunked'],
    'chunks before another': ['transfer-encoding: chunked, identity'],
    'a space before the colon': [`content-length : ${body.length}`],
    'a folded field': ['transfer-encoding:\r\n chunked', `content-length: ${body.length}`],
    'a bare carriage return': [`x: a\rcontent-length: ${body.length}`],
    'NUL in a name': [`content-length\0: ${body.length}`],
    'an underscore': [`content_length: ${body.length}`, 'content-length: 0'],
  };
  return Object.entries(fields).map(
    ([what, headerFields]): CallerCase => ({
      name: `smuggles by ${what}`,
      moves: [post(key, body, headerFields), wait(50), halfClose],
      answers: [any, [400, 404]],
      mayEnd: true,
    }),
  );
}

/** Data that is not a valid request. */
function broken(key: string): readonly CallerCase[] {
  const texts: Readonly<Record<string, string | Buffer>> = {
    'no HTTP': 'hello\r\n\r\n',
    'a hello of TLS': Buffer.from([0x16, 3, 1, 0, 0xa5, 1, 0, 0, 0xa1, 3, 3]),
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'a method of 10 kB': `${'A'.repeat(10_000)} / HTTP/1.1\r\n\r\n`,
    'a path of 100 kB': get(`/${'a'.repeat(100_000)}`),
    'fields of 200 kB': get(
      '/health',
      Array.from({ length: 2_000 }, (_, index) => `x-${index}: ${'a'.repeat(90)}`),
    ),
    'a chunk of the size zz': post(key, 'zz\r\nabc\r\n0\r\n\r\n', [chunkedField]),
    'a chunk of 2^64': post(key, 'ffffffffffffffff\r\nabc', [chunkedField]),
    'a body that is longer than may be': post(key, '{}', ['content-length: 99999999999']),
    NULs: Buffer.alloc(5_000),
    'an absolute address of elsewhere': 'GET http://169.254.169.254/latest HTTP/1.1\r\nhost: x\r\n\r\n',
    CONNECT: 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: x\r\n\r\n',
    SOCKS: Buffer.from([5, 1, 0]),
    'an asterisk': 'OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n',
  };
  return Object.entries(texts).map(
    ([what, text]): CallerCase => ({
      name: `sends ${what}`,
      moves: [text, wait(20), halfClose],
      answers: [[200, 204, 400, 401, 404, 405, 413, 414, 431]],
      mayEnd: true,
    }),
  );
}

/** Lists all cases of client errors. */
export function callerCases({ key }: Means): readonly CallerCase[] {
  return [...leavings(key), ...oddities(key), ...smuggling(key), ...broken(key)];
}
