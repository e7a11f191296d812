import { defaultJsonBounds, isJsonObject, type JsonObject, parseJson } from '#base/json/json.ts';
import { type Seal, SealFault } from '#base/secrets/seal.ts';
import { StoreFault } from '#domain/store-fault.ts';

/** What was let in once can be read, whatever is let in today. */
const storedBounds = { ...defaultJsonBounds, maxNodes: Number.POSITIVE_INFINITY, maxDepth: 1000, allowsProto: true };

/** The value that was sealed as JSON for this place. Throws StoreFault where its secret is not at hand. */
export function openSealed<Value>(seal: Seal, sealed: string, place: string): Value {
  try {
    return parseJson(seal.open(sealed, place), storedBounds) as Value;
  } catch (cause) {
    if (!(cause instanceof SealFault)) throw cause;
    throw new StoreFault('what is stored cannot be decrypted', { cause });
  }
}

/** Opens an object. Any other value, which another version may have stored, is read as an object without fields. */
export function openSealedObject(seal: Seal, sealed: string, place: string): JsonObject {
  const value = openSealed<unknown>(seal, sealed, place);
  return isJsonObject(value) ? value : {};
}
