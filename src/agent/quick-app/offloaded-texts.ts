import type { Citation } from '../citations.ts';
import type { RunMemory } from '../run-memory.ts';

/** Long texts that are stored separately from a state. Markers in the state refer to them. */
export interface OffloadedTexts {
  /** Prefix of the markers. */
  readonly name: string;
  /** Total number of characters. */
  readonly chars: number;
  /** Returns the texts, ordered by marker number, or undefined if they were deleted. Rejects with `StoreError`. */
  readonly readTexts: () => Promise<readonly string[] | undefined>;
}

/** The parts of a run that can contain long texts, and the calls that the run needs to continue. */
interface OffloadableState extends Pick<RunMemory, 'added' | 'pending' | 'questions'> {
  readonly results: Readonly<Record<string, string>>;
  readonly citations?: readonly Citation[];
}

/** Minimum length of an offloaded text. Shorter texts stay in the state, so that they survive the deletion of offloaded texts. */
const minOffloadedChars = 150;

/**
 * Offloads the longest texts of a state until it is `excess` characters shorter. Does not offload the arguments of pending
 * calls, because the run needs them to continue.
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
    remaining -= text.length - formatMarker(name, numbers.size).length;
    numbers.set(text, numbers.size);
  }
  const marked = mapTexts(fields, (text) => {
    const number = numbers.get(text);
    return number === undefined ? text : formatMarker(name, number);
  });
  return { state: { ...state, ...marked }, texts: [...numbers.keys()] };
}

/** Parses a marker. Returns undefined for any other text. */
export function parseMarker(text: string): { readonly name: string; readonly number: number } | undefined {
  const end = text.length <= maxMarkerChars ? text.indexOf(':') : -1;
  const number = Number(text.slice(end + 1));
  return end <= 0 || !Number.isInteger(number) ? undefined : { name: text.slice(0, end), number };
}

const maxMarkerChars = 80;

function formatMarker(name: string, number: number): string {
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

/** Returns a copy of the value with transformed texts. */
export function mapTexts<Value>(value: Value, transform: (text: string) => string): Value {
  if (typeof value === 'string') return transform(value) as Value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, transform)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, transform)])) as Value;
}
