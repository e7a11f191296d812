import { defaultJsonBounds, JsonFault, parseJson } from '#base/json.ts';
import { ParleyError } from '#contract/errors.ts';

/** The value of a JSON body as `readBody` gives it; keys named `__proto__` are refused unless the reader keeps such keys. Throws `invalid_json`. */
export function parseBody(text: string | undefined, { allowsProto = false } = {}): unknown {
  if (text === undefined) throw new ParleyError('invalid_json', 'The body cannot be read: it is not valid UTF-8.');
  try {
    return parseJson(text, { ...defaultJsonBounds, allowsProto });
  } catch (cause) {
    if (!(cause instanceof JsonFault)) throw cause;
    throw new ParleyError('invalid_json', `The body cannot be read: ${cause.message}.`, { cause });
  }
}
