import { defaultJsonBounds, type JsonObject, parseJson, toObject } from '#base/json/json.ts';
import { type Seal, SealError } from '#base/secrets/seal.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import { StoreError } from '#domain/store-error.ts';

/** Reads have wider bounds than writes, so that values stored under older rules stay readable. */
const storedBounds = { ...defaultJsonBounds, maxNodes: Number.POSITIVE_INFINITY, maxDepth: 1000, allowsProto: true };

/** Decrypts a JSON value that was sealed for this context. Throws `StoreError` if it cannot be decrypted. */
export function openSealed<Value>(seal: Seal, sealed: string, context: string): Value {
  return parseJson(openSealedText(seal, sealed, context), storedBounds) as Value;
}

/** Decrypts a text that was sealed for this context. Throws `StoreError` if it cannot be decrypted. */
export function openSealedText(seal: Seal, sealed: string, context: string): string {
  try {
    return seal.open(sealed, context);
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    throw new StoreError('stored data cannot be decrypted', { cause });
  }
}

/** Decrypts a JSON object. Any other value, which another version may have stored, is read as an empty object. */
export function openSealedObject(seal: Seal, sealed: string, context: string): JsonObject {
  return toObject(openSealed(seal, sealed, context));
}

/** Called with the kind and the ID of a stored entry that is invalid, and with the error. */
export type ReportInvalidEntry = (kind: string, id: string, error: unknown) => void;

/**
 * Returns the entry that `parse` returns, or undefined if the row is invalid. Entries are validated when they are saved, but
 * another version, a backup, or a manual change may have written invalid ones. An invalid row must not make the other rows
 * unusable. Rethrows `StoreError`.
 */
export function readEntry<Entry>(
  { kind, id, reportInvalid }: { readonly kind: string; readonly id: string; readonly reportInvalid: ReportInvalidEntry },
  parse: () => Entry,
): Entry | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof StoreError) throw error;
    reportInvalid(kind, id, error);
    return undefined;
  }
}

/** Returns the entries that are valid. */
export function withoutInvalid<Entry>(entries: readonly (Entry | undefined)[]): readonly Entry[] {
  return entries.filter((entry) => entry !== undefined);
}

/** Serializes a record as a list of entries, so that every text can be a key, including `__proto__`. */
export function stringifyRecord(record: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.entries(record));
}

/** Parses the result of `stringifyRecord`. */
export function parseRecord<Value>(text: string): Record<string, Value> {
  return Object.fromEntries(parseJson(text) as [string, Value][]);
}

/** Parses a JSON array of texts. */
export function parseTextList(text: string): readonly string[] {
  return parseJson(text) as readonly string[];
}

/** Throws `StoreError` if one of the keys is too long or cannot be stored. */
export function requireStorable(...keys: readonly string[]): void {
  if (!keys.every(isStorableKey)) throw new StoreError('the key is too long or has characters that cannot be stored');
}
