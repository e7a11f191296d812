import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { fuzzRuns } from '#test/same-cases.ts';
import { requireErrorShape } from '#test/sane-answer.ts';
import type { TestResponse } from '#test/send-request.ts';

/** Maximum duration of an answer in tests. A request without an answer after this time hangs. */
const maxAnswerMs = 30_000;

/** Returns limits for the number of runs and the time of a property. `FUZZ_RUNS` sets a higher number of runs. */
export function createBounds(runs: number): fc.Parameters<unknown> {
  if (fuzzRuns !== undefined) return { numRuns: fuzzRuns };
  return { numRuns: runs, interruptAfterTimeLimit: 6_000, markInterruptAsFailure: false };
}

/** Fails each test of the file that leaves a promise rejection unhandled. */
export function failOnUnhandledRejection(): void {
  const unhandled: unknown[] = [];
  const record = (reason: unknown): void => void unhandled.push(reason);
  beforeAll(() => void process.on('unhandledRejection', record));
  afterEach(() => expect(unhandled.splice(0)).toEqual([]));
  afterAll(() => void process.off('unhandledRejection', record));
}

/** Rejects if the promise does not settle in time. */
export async function requireInTime<Value>(value: Promise<Value>, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} hangs`)), maxAnswerMs);
  });
  try {
    return await Promise.race([value, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Throws for status 500 and for an error without the format of docs/wire.md, section Errors. */
export function requireSane({ status, text }: Pick<TestResponse, 'status' | 'text'>): void {
  if (status === 500 || status < 100) throw new Error(`${status} ${text}`);
  if (status < 400 || text === '') return;
  requireErrorShape(text);
}

/** Returns the server's complete output as latin1 text. `ends` closes the sending side after the bytes. */
export function exchangeBytes(url: string, bytes: Buffer, { ends }: { readonly ends: boolean }): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let output = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      output += piece;
    });
    socket.on('error', () => undefined).on('close', () => resolve(output));
    if (ends) socket.end(bytes);
    else socket.write(bytes);
  });
}

/** Values that JSON consumers often mishandle. */
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

/** Returns values that differ from `valid` in 1 to 3 places: replaced, removed, renamed, duplicated, or wrapped. */
export function createNearMiss(valid: unknown): fc.Arbitrary<unknown> {
  const step = fc.record({ at: fc.nat(), how: fc.constantFrom('replace', 'drop', 'case', 'wrap', 'double'), odd: oddValues });
  return fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => {
    let value = structuredClone(valid);
    for (const { at, how, odd } of steps) value = changeAt(value, at, changes[how](structuredClone(odd)));
    return value;
  });
}

interface Location {
  readonly parent: Record<string, unknown>;
  readonly key: string;
}

type Change = (location: Location) => void;

const changes: Readonly<Record<'replace' | 'drop' | 'case' | 'wrap' | 'double', (odd: unknown) => Change>> = {
  replace: (odd) => (location) => put(location, odd),
  drop:
    () =>
    ({ parent, key }) =>
      void delete parent[key],
  case:
    () =>
    ({ parent, key }) => {
      put({ parent, key: key.toUpperCase() }, parent[key]);
    },
  wrap: () => (location) => put(location, [location.parent[location.key]]),
  double: () => (location) => put(location, [location.parent[location.key], location.parent[location.key]]),
};

function put({ parent, key }: Location, value: unknown): void {
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
}

function changeAt(value: unknown, at: number, change: Change): unknown {
  const root = { value };
  const locations = [...listLocations(root)];
  const location = locations[at % locations.length];
  if (location !== undefined) change(location);
  return (root as { value?: unknown }).value;
}

function* listLocations(parent: object): Iterable<Location> {
  for (const [key, value] of Object.entries(parent)) {
    yield { parent: parent as Record<string, unknown>, key };
    if (typeof value === 'object' && value !== null) yield* listLocations(value);
  }
}
