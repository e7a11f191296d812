import { StoreFault } from '#domain/store-fault.ts';

/** Called with the kind and the id of a stored entry that is invalid, and with the error. */
export type NoteInvalidEntry = (kind: string, id: string, error: unknown) => void;

/**
 * Returns what `read` makes of a row, or undefined if the row is invalid. An entry is validated when it is saved, but another
 * version, a back-up, or a hand may have written it. One invalid row must not make the others unusable. Throws `StoreFault`.
 */
export function readEntry<Entry>(
  { kind, id, noteInvalid }: { readonly kind: string; readonly id: string; readonly noteInvalid: NoteInvalidEntry },
  read: () => Entry,
): Entry | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoreFault) throw error;
    noteInvalid(kind, id, error);
    return undefined;
  }
}

/** Returns the entries that are valid. */
export function withoutInvalid<Entry>(entries: readonly (Entry | undefined)[]): readonly Entry[] {
  return entries.filter((entry) => entry !== undefined);
}
