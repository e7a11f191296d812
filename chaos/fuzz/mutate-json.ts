import type { Random } from '../random.ts';
import { oddKey, oddValue } from './odd-values.ts';

type Holder = Record<string, unknown>;

interface ValueSlot {
  readonly parent: Holder;
  readonly key: string;
}

/** Changes one slot of a value. `names` are field names that may occur in the value. */
type Change = (slot: ValueSlot, random: Random, names: readonly string[]) => void;

const changes: readonly Change[] = [
  (slot, random) => put(slot, oddValue(random)),
  (slot, random) => put(slot, oddValue(random)),
  (slot) => put(slot, null),
  ({ parent, key }) => void delete parent[key],
  (slot) => put(slot, [slot.parent[slot.key]]),
  (slot) => put(slot, [slot.parent[slot.key], slot.parent[slot.key]]),
  (slot) => put(slot, { value: slot.parent[slot.key] }),
  (slot) => put(slot, String(slot.parent[slot.key])),
  ({ parent, key }) => put({ parent, key: key.toUpperCase() }, parent[key]),
  ({ parent }, random) => put({ parent, key: oddKey(random) }, oddValue(random)),
  ({ parent }, random, names) => put({ parent, key: names.length === 0 ? 'x' : random.pick(names) }, oddValue(random)),
  ({ parent, key }, random, names) => put({ parent, key: names.length === 0 ? 'x' : random.pick(names) }, parent[key]),
];

function put({ parent, key }: ValueSlot, value: unknown): void {
  if (Array.isArray(parent) && key === 'length') return;
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
}

const maxSlots = 400;

/** Returns a copy of a value with one to four changes. */
export function mutateJson(valid: unknown, random: Random, names: readonly string[]): unknown {
  const root: Holder = { value: structuredClone(valid) };
  const count = 1 + random.below(4);
  for (let step = 0; step < count; step += 1) {
    const slots: ValueSlot[] = [];
    collect(root, slots);
    if (slots.length > 0) random.pick(changes)(random.pick(slots), random, names);
  }
  return root.value;
}

function collect(parent: Holder, slots: ValueSlot[]): void {
  for (const key of Object.keys(parent)) {
    if (slots.length >= maxSlots) return;
    slots.push({ parent, key });
    const value = parent[key];
    if (typeof value === 'object' && value !== null) collect(value as Holder, slots);
  }
}

const tokens = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '\\',
  '\\u',
  '\\ud800',
  '\0',
  '\n',
  'null',
  '1e999',
  '-',
  '0x1',
  '//',
  '/*',
  '\ufeff',
  'NaN',
  '"__proto__":{"a":1},',
];

/** Returns the JSON text of a value. Some texts are damaged: truncated, with changed bytes, duplicate keys, or invalid UTF-8. */
export function toText(value: unknown, random: Random): Buffer {
  const text = JSON.stringify(value) ?? '';
  const bytes = Buffer.from(text);
  const at = random.below(bytes.length + 1);
  switch (random.below(24)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(tokens)), bytes.subarray(at)]);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([random.below(256)]), bytes.subarray(at + 1)]);
    case 3:
      return Buffer.from(text.replace(/"(\w+)":/g, '"$1":null,"$1":'));
    case 4:
      return Buffer.concat([bytes, Buffer.from(random.pick(['x', '{}', ',', '\0', ' '.repeat(10_000)]))]);
    case 5:
      return Buffer.from(text, 'utf16le');
    default:
      return bytes;
  }
}
