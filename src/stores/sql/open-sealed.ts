import { defaultJsonBounds, isJsonObject, type JsonObject, parseJson } from '#base/json/json.ts';
import { type Seal, SealError } from '#base/secrets/seal.ts';
import { StoreError } from '#domain/store-error.ts';

/** Reads have wider bounds than writes, so that values stored under older rules stay readable. */
const storedBounds = { ...defaultJsonBounds, maxNodes: Number.POSITIVE_INFINITY, maxDepth: 1000, allowsProto: true };

/** Decrypts a JSON value that was sealed for this context. Throws `StoreError` if it cannot be decrypted. */
export function openSealed<Value>(seal: Seal, sealed: string, context: string): Value {
  try {
    return parseJson(seal.open(sealed, context), storedBounds) as Value;
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    throw new StoreError('stored data cannot be decrypted', { cause });
  }
}

/** Opens an object. Any other value, which another version may have stored, is read as an object without fields. */
export function openSealedObject(seal: Seal, sealed: string, context: string): JsonObject {
  const value = openSealed<unknown>(seal, sealed, context);
  return isJsonObject(value) ? value : {};
}
