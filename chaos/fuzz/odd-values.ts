import type { Random } from '../random.ts';

/** Returns a value of any type that often causes errors. */
export function oddValue(random: Random): unknown {
  return random.pick(makers)(random);
}

const numbers = [0, -0, -1, 1, 0.5, 1e308, -1e308, 5e-324, 2 ** 53 + 2, 2 ** 31, -(2 ** 31), 2 ** 32, 1e21];
const words = [
  ...['', ' ', '0', '-1', 'true', 'null', 'NaN', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length'],
  ...['\0', 'a\0b', '\ud800', '\udc00\ud800', '🙂', '\ufeff', '\u2028', '\r\n', 'a\r\nx-injected: 1', '\u202e', 'ﷺ'.repeat(50)],
  ...['../..', '/etc/passwd', '%2e%2e%2f', '\\\\host\\share', "' or 1=1 --", '$(id)', '{{7*7}}', '<script>', 'javascript:1'],
  ...[
    'http://127.0.0.1:1/',
    'http://[::1]/',
    'http://169.254.169.254/',
    'file:///etc/passwd',
    'data:,x',
    'https://',
    'http://a:99999/',
  ],
  ...['(a+)+$', '[', '(?<=a)b', 'a{1000000}', '2024-02-30', '9999-12-31T23:59:60Z', 'bytes=0-', '*', '"', '\\'],
];
const keys = [
  '__proto__',
  'constructor',
  'prototype',
  'toJSON',
  'then',
  'length',
  '',
  '0',
  'a.b',
  'a[0]',
  '\0',
  '\ud800',
  '$ref',
  'x'.repeat(500),
];

const makers: readonly ((random: Random) => unknown)[] = [
  () => null,
  (random) => random.chance(0.5),
  (random) => random.pick(numbers),
  (random) => random.pick(words),
  (random) => random.pick(words),
  (random) => 'x'.repeat(random.pick([100, 5_000, 100_000])),
  () => [],
  () => ({}),
  (random) => [oddValue(random)],
  (random) => Array.from({ length: random.pick([2, 200, 3_000]) }, () => random.pick(numbers)),
  (random) => toObject(random.pick(keys), oddValue(random)),
  (random) => Object.fromEntries(Array.from({ length: random.pick([3, 300]) }, (_, index) => [`k${index}`, index])),
  (random) => nested(random.pick([5, 60, 400, 3_000]), random.chance(0.5)),
];

/** Creates an object with this own key, which may also be a key of `Object.prototype`. */
function toObject(key: string, value: unknown): object {
  return Object.defineProperty({}, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Returns a key that often causes errors. */
export function oddKey(random: Random): string {
  return random.pick(keys);
}

/** Returns a word that often causes errors. */
export function oddWord(random: Random): string {
  return random.pick(words);
}

function nested(depth: number, isList: boolean): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = isList ? [value] : { a: value };
  return value;
}
