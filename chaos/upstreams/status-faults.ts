import { bytes, close, type Fault, head } from './fault.ts';

const statuses = [
  ...[201, 202, 203, 204, 205, 206, 226, 300, 301, 302, 303, 304, 305, 307, 308],
  ...[
    400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 425, 426,
  ],
  ...[
    428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 507, 508, 510, 511, 520, 521, 522, 523, 524, 525, 526, 529, 530, 598,
  ],
  599,
];

const errorText = JSON.stringify({ error: { type: 'upstream_type', message: 'The upstream says no.', param: null, code: 'no' } });

/**
 * Returns the statuses that a client may receive for an upstream status. Client errors stay client errors. Rate limits become 429
 * or 503, all other errors 500, 501, or 503. A 404 without an API error means that the address is wrong.
 */
function statusesFor(status: number, body: string): readonly number[] {
  if (status === 404 && body !== errorText) return [500];
  if ([400, 404, 413].includes(status)) return [status];
  if (status === 422) return [400];
  if (status === 429) return [429, 503];
  return [500, 501, 503];
}

function reply(status: number, body: string, fields: readonly string[] = []) {
  const length = status === 204 || status === 304 ? [] : [`content-length: ${body.length}`];
  const type = body.startsWith('<') ? 'text/html' : 'application/json';
  const bodyBytes = status === 204 || status === 304 || body === '' ? [] : [bytes(body)];
  return [head({ contentType: type }, [...length, ...fields], `HTTP/1.1 ${status} X`), ...bodyBytes, close];
}

const bodies: Readonly<Record<string, string>> = {
  'without a body': '',
  'with an error': errorText,
  'with a page': '<html><h1>Bad Gateway</h1></html>',
};

const plain: readonly Fault[] = statuses.flatMap((status) =>
  Object.entries(bodies).map(
    ([what, body]): Fault => ({
      name: `status: ${status} ${what}`,
      expects: 'refused',
      statuses: statusesFor(status, body),
      steps: () => reply(status, body),
    }),
  ),
);

const waits = [
  '0',
  '1',
  '-1',
  '0.5',
  '99999999999',
  '1e9',
  'NaN',
  '',
  'soon',
  '1, 2',
  ' 7 ',
  'Wed, 21 Oct 2015 07:28:00 GMT',
  'Fri, 31 Dec 9999 23:59:59 GMT',
  '0x10',
];
const retryAfters: readonly Fault[] = [429, 503].flatMap((status) =>
  waits.map(
    (value): Fault => ({
      name: `status: ${status} with Retry-After ${JSON.stringify(value)}`,
      expects: 'refused',
      statuses: [429, 503, 500],
      steps: () => reply(status, errorText, [`retry-after: ${value}`]),
    }),
  ),
);

const targets = [
  '/',
  '//other.test/',
  'http://169.254.169.254/latest',
  'http://127.0.0.1:1/',
  'https://x.test/',
  'file:///etc/passwd',
  'javascript:1',
  '',
  '::',
  '\\\\x\\y',
];
const redirects: readonly Fault[] = [301, 302, 303, 307, 308].flatMap((status) =>
  targets.map(
    (target): Fault => ({
      name: `status: ${status} to ${JSON.stringify(target)}`,
      expects: 'refused',
      statuses: [500, 503],
      steps: () => reply(status, '', [`location: ${target}`]),
    }),
  ),
);

const challenges: readonly Fault[] = [401, 407].map((status) => ({
  name: `status: ${status} with a challenge`,
  expects: 'refused',
  statuses: [500, 503],
  steps: () => reply(status, errorText, ['www-authenticate: Basic realm="x"', 'proxy-authenticate: NTLM']),
}));

/** Errors with unusual text. Clients must still receive a valid error of Parley. */
const errorBodies: Readonly<Record<string, string>> = {
  null: 'null',
  'a word': '"no"',
  'a number': '7',
  'a list': '[{"error":"no"}]',
  'half of it': errorText.slice(0, 30),
  'error: null': '{"error":null}',
  'error: a word': '{"error":"no"}',
  'a message that is an object': '{"error":{"message":{"a":1},"code":{"b":2},"type":[]}}',
  'a detail': '{"detail":[{"loc":["body"],"msg":"no","type":"x"}]}',
  'a message of 2 MB': `{"error":{"message":"${'a'.repeat(2_000_000)}"}}`,
  'prototype keys': '{"error":{"__proto__":{"message":"x"},"constructor":1}}',
  'deep nesting': `{"error":${'['.repeat(50_000)}`,
};
const oddErrors: readonly Fault[] = [400, 500].flatMap((status) =>
  Object.entries(errorBodies).map(
    ([what, body]): Fault => ({
      name: `status: ${status}, its error is ${what}`,
      expects: 'refused',
      statuses: status === 400 ? [400, 500] : [500, 503],
      steps: () => reply(status, body),
    }),
  ),
);

/** Faults that an upstream reports by a status. */
export const statusFaults: readonly Fault[] = [...plain, ...retryAfters, ...redirects, ...challenges, ...oddErrors];
