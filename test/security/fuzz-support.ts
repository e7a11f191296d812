import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { fuzzRuns } from '#test/same-cases.ts';
import { requireErrorShape } from '#test/sane-answer.ts';
import type { TestResponse } from '#test/send-request.ts';

/** Longer than any answer of the tests takes; a request that has none by then hangs. */
const longestMs = 30_000;

/** Bounds on one property: so many runs, or so much time. A failure prints its seed; `FUZZ_RUNS` makes it thorough. */
export function bounds(runs: number): fc.Parameters<unknown> {
  if (fuzzRuns !== undefined) return { numRuns: fuzzRuns };
  return { numRuns: runs, interruptAfterTimeLimit: 6_000, markInterruptAsFailure: false };
}

/** Each test of the file fails that leaves a rejection unheard. */
export function failUnheard(): void {
  const unheard: unknown[] = [];
  const hear = (reason: unknown): void => void unheard.push(reason);
  beforeAll(() => void process.on('unhandledRejection', hear));
  afterEach(() => expect(unheard.splice(0)).toEqual([]));
  afterAll(() => void process.off('unhandledRejection', hear));
}

/** Rejects where an answer does not come. */
export async function inTime<Value>(value: Promise<Value>, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} hangs`)), longestMs);
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Throws where an answer is our fault, or is an error in another shape than that of docs/wire.md, Errors. */
export function requireSane({ status, text }: Pick<TestResponse, 'status' | 'text'>): void {
  if (status === 500 || status < 100) throw new Error(`${status} ${text}`);
  if (status < 400 || text === '') return;
  requireErrorShape(text);
}

/** All that a server says to these bytes until it closes the connection, as latin1 text; `ends` where nothing is to follow them. */
export function exchangeBytes(url: string, bytes: Buffer, { ends }: { readonly ends: boolean }): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let said = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      said += piece;
    });
    socket.on('error', () => undefined).on('close', () => resolve(said));
    if (ends) socket.end(bytes);
    else socket.write(bytes);
  });
}

/** Values that readers of JSON stumble over. */
export const oddValues = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    -0,
    0.5,
    1e308,
    Number.MAX_SAFE_INTEGER + 2,
    '',
    '__proto__',
    'constructor',
    '../..',
    '\u0000',
    '\ud800',
    '🙂',
    'x'.repeat(5_000),
    [],
    {},
    [[]],
    [null],
    { length: -1 },
    { toString: 1, toJSON: 1 },
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Almost what `valid` is: one to three places of it were replaced, left out, renamed, doubled or put elsewhere. */
export function nearMiss(valid: unknown): fc.Arbitrary<unknown> {
  const step = fc.record({ at: fc.nat(), how: fc.constantFrom('replace', 'drop', 'case', 'wrap', 'double'), odd: oddValues });
  return fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => {
    let value = structuredClone(valid);
    for (const { at, how, odd } of steps) value = changeAt(value, at, changes[how](structuredClone(odd)));
    return value;
  });
}

interface Place {
  readonly parent: Record<string, unknown>;
  readonly key: string;
}

type Change = (place: Place) => void;

const changes: Readonly<Record<'replace' | 'drop' | 'case' | 'wrap' | 'double', (odd: unknown) => Change>> = {
  replace: (odd) => (place) => put(place, odd),
  drop:
    () =>
    ({ parent, key }) =>
      void delete parent[key],
  case:
    () =>
    ({ parent, key }) => {
      put({ parent, key: key.toUpperCase() }, parent[key]);
    },
  wrap: () => (place) => put(place, [place.parent[place.key]]),
  double: () => (place) => put(place, [place.parent[place.key], place.parent[place.key]]),
};

function put({ parent, key }: Place, value: unknown): void {
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
}

function changeAt(value: unknown, at: number, change: Change): unknown {
  const root = { value };
  const places = [...placesIn(root)];
  const place = places[at % places.length];
  if (place !== undefined) change(place);
  return (root as { value?: unknown }).value;
}

function* placesIn(parent: object): Iterable<Place> {
  for (const [key, value] of Object.entries(parent)) {
    yield { parent: parent as Record<string, unknown>, key };
    if (typeof value === 'object' && value !== null) yield* placesIn(value);
  }
}
