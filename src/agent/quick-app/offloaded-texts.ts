import type { Citation } from '../citations.ts';
import type { RunMemory } from '../run-memory.ts';

/** Long texts of a state that are kept beside it; marks in it stand for them. */
export interface OffloadedTexts {
  /** What their marks begin with. */
  readonly name: string;
  /** How many there are in all. */
  readonly chars: number;
  /** In the order of their numbers; undefined if they are gone. Rejects with StoreFault. */
  readonly read: () => Promise<readonly string[] | undefined>;
}

/** What of a run may hold long texts, and what it cannot go on without. */
interface OffloadableState extends Pick<RunMemory, 'added' | 'pending' | 'questions'> {
  readonly results: Readonly<Record<string, string>>;
  readonly citations?: readonly Citation[];
}

/** Shorter ones stay: what is gone one day should be little. */
const minOffloadedChars = 150;

/**
 * Takes the longest texts out of a state until it is so many characters shorter. What the run cannot go on without stays: the
 * arguments of calls that still have to be made.
 */
export function offload<State extends OffloadableState>(
  state: State,
  name: string,
  excess: number,
): { readonly state: State; readonly texts: readonly string[] } {
  const { added, results, citations, pending, questions = [] } = state;
  const fields = { added, results, ...(citations !== undefined && { citations }) };
  const waitingCalls = [...pending, ...questions.map(({ call }) => call)];
  const requiredArguments = new Set(waitingCalls.map((call) => call.function.arguments));
  const numbers = new Map<string, number>();
  let remaining = excess;
  for (const text of listByLength(fields)) {
    if (remaining <= 0 || text.length < minOffloadedChars) break;
    if (requiredArguments.has(text)) continue;
    remaining -= text.length - toMark(name, numbers.size).length;
    numbers.set(text, numbers.size);
  }
  const marked = mapTexts(fields, (text) => {
    const number = numbers.get(text);
    return number === undefined ? text : toMark(name, number);
  });
  return { state: { ...state, ...marked }, texts: [...numbers.keys()] };
}

/** The name and number of the text that a mark stands for; undefined for any other text. */
export function fromMark(text: string): { readonly name: string; readonly number: number } | undefined {
  const end = text.length <= maxMarkChars ? text.indexOf(':') : -1;
  const number = Number(text.slice(end + 1));
  return end <= 0 || !Number.isInteger(number) ? undefined : { name: text.slice(0, end), number };
}

const maxMarkChars = 80;

function toMark(name: string, number: number): string {
  return `${name}:${number}`;
}

function listByLength(value: unknown): string[] {
  const texts = new Set<string>();
  mapTexts(value, (text) => {
    texts.add(text);
    return text;
  });
  return [...texts].sort((first, second) => second.length - first.length);
}

/** The same value with other texts. */
export function mapTexts<Value>(value: Value, transform: (text: string) => string): Value {
  if (typeof value === 'string') return transform(value) as Value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, transform)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, transform)])) as Value;
}
