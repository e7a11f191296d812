import { isJsonObject } from '#base/json.ts';
import { ParleyError } from './errors.ts';
import { refuseOtherCase } from './request-fault.ts';

const known: ReadonlySet<string> = new Set(['model']);
const unnamed = 'model must name a deployment; GET /v1/models lists yours.';

/**
 * The deployment that a body names as its `model`. Throws invalid_request if the body is no JSON object, writes the key in
 * another case, or names none, which `message` then tells.
 */
export function readModel(body: unknown, message = unnamed): string {
  if (!isJsonObject(body)) throw new ParleyError('invalid_request', 'The body must be a JSON object.');
  const { model } = body;
  if (typeof model === 'string' && model !== '') return model;
  if (model === undefined) refuseOtherCase(body, known);
  throw new ParleyError('invalid_request', message, { param: 'model' });
}
