import { defaultJsonBounds, JsonFault } from '#base/json.ts';
import { parseJsonBytes } from '#base/written-json.ts';
import { ParleyError } from '#contract/errors.ts';

/** The value of a JSON body; keys named `__proto__` are refused unless the reader keeps such keys. Throws `invalid_json`. */
export function parseBody(bytes: Buffer, { allowsProto = false } = {}): unknown {
  if (bytes.length === 0) throw new ParleyError('invalid_json', 'The body is empty; it must be JSON.');
  try {
    return parseJsonBytes(bytes, { ...defaultJsonBounds, allowsProto });
  } catch (cause) {
    if (!(cause instanceof JsonFault)) throw cause;
    throw new ParleyError('invalid_json', `The body cannot be read: ${cause.message}.`, { cause });
  }
}
