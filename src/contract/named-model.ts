import { isJsonObject } from '#base/json.ts';
import { ParleyError } from './errors.ts';
import { refuseOtherCase } from './request-fault.ts';

const known: ReadonlySet<string> = new Set(['model']);

/**
 * The deployment that a body names as its `model`; undefined if it names none. Throws invalid_request if the body is no
 * JSON object, or writes the key in another case.
 */
export function readModel(body: unknown): string | undefined {
  if (!isJsonObject(body)) throw new ParleyError('invalid_request', 'The body must be a JSON object.');
  const { model } = body;
  if (model === undefined) refuseOtherCase(body, known);
  return typeof model === 'string' && model !== '' ? model : undefined;
}
