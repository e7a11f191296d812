import type { Notes } from './notes.ts';
import type { Result } from './result.ts';
import type { Variables } from './variables.ts';

/** What every part of an import works with. */
export interface ImportTools {
  readonly result: Result;
  readonly notes: Notes;
  readonly variables: Variables;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}
