import { isJsonObject, type JsonObject } from '#base/json.ts';
import { ParleyError } from './errors.ts';

const mostInputs = 1000;
const longestComment = 10_000;
const longestId = 1000;

/** What a kept rating is called among the records. */
export const ratedAction = 'deployment.rated';

/** What is to be counted. */
export type TokenizeInput =
  | { readonly type: 'string'; readonly value: string }
  /** Of a chat; it may be none. */
  | { readonly type: 'request'; readonly value: unknown };

/** What a user thinks of a reply. */
export interface Rating {
  readonly rate: boolean | number;
  readonly comment?: string;
  readonly responseId?: string;
}

/** Reads `{inputs: [{type, value}]}`. Throws `invalid_request`. */
export function parseTokenizeRequest(value: unknown): readonly TokenizeInput[] {
  return inputsOf(value).map((input, index) => {
    const at = `inputs[${index}]`;
    if (!isJsonObject(input)) throw fault(at, 'must be an object');
    if (input.type === 'request') return { type: 'request', value: input.value };
    if (input.type !== 'string') throw fault(`${at}.type`, 'must be "string" or "request"');
    if (typeof input.value !== 'string') throw fault(`${at}.value`, 'must be a string');
    return { type: 'string', value: input.value };
  });
}

/** Reads `{inputs: [request]}`; each may be no request of a chat. Throws `invalid_request`. */
export function parseTruncateRequest(value: unknown): readonly unknown[] {
  return inputsOf(value);
}

/** Reads `{rate, comment, responseId}`. Throws `invalid_request`. */
export function parseRating(value: unknown): Rating {
  const body = objectIn(value);
  const { rate } = body;
  if (typeof rate !== 'boolean' && typeof rate !== 'number') throw fault('rate', 'must be a boolean or a number');
  const comment = textIn(body, 'comment', longestComment);
  const responseId = textIn(body, 'responseId', longestId);
  return { rate, ...(comment !== undefined && { comment }), ...(responseId !== undefined && { responseId }) };
}

function inputsOf(value: unknown): readonly unknown[] {
  const { inputs } = objectIn(value);
  if (!Array.isArray(inputs)) throw fault('inputs', 'must be a list');
  if (inputs.length > mostInputs) throw fault('inputs', `must have at most ${mostInputs} items`);
  return inputs;
}

function objectIn(value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  throw new ParleyError('invalid_request', 'The body must be a JSON object.');
}

function textIn(body: JsonObject, key: string, longest: number): string | undefined {
  const text = body[key] ?? undefined;
  if (text === undefined) return undefined;
  if (typeof text !== 'string') throw fault(key, 'must be a string');
  if (text.length > longest) throw fault(key, `must have at most ${longest} characters`);
  return text;
}

function fault(param: string, claim: string): ParleyError {
  return new ParleyError('invalid_request', `${param} ${claim}.`, { param });
}
