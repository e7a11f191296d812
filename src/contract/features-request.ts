import { type Static, Type } from 'typebox';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { ParleyError } from './errors/errors.ts';
import { createRequestError, requireShape } from './errors/request-error.ts';
import { compileShape } from './schemas/compile-shape.ts';
import { withoutNulls } from './schemas/normalize-request.ts';

const maxInputs = 1000;

/** Name of a rating in the audit records. */
export const ratedAction = 'deployment.rated';

/** Input whose tokens are counted. */
export type TokenizeInput =
  | { readonly type: 'string'; readonly value: string }
  /** A chat request. It is not validated yet. */
  | { readonly type: 'request'; readonly value: unknown };

/** A user's rating of a reply. Further fields are ignored. */
export const RatingBody = Type.Object(
  {
    rate: Type.Union([Type.Boolean(), Type.Number()]),
    comment: Type.Optional(Type.String({ maxLength: 10_000 })),
    responseId: Type.Optional(Type.String({ maxLength: 1000 })),
  },
  { maxProperties: 100 },
);
export type Rating = Static<typeof RatingBody>;

const ratingShape = compileShape(RatingBody);
const optionalRatingFields: ReadonlySet<string> = new Set(['comment', 'responseId']);

/** Parses `{inputs: [{type, value}]}`. Throws `invalid_request`. */
export function parseTokenizeRequest(value: unknown): readonly TokenizeInput[] {
  return parseInputs(value).map((input, index) => {
    const path = `inputs[${index}]`;
    if (!isJsonObject(input)) throw createRequestError(path, 'must be an object');
    if (input.type === 'request') return { type: 'request', value: input.value };
    if (input.type !== 'string') throw createRequestError(`${path}.type`, 'must be "string" or "request"');
    if (typeof input.value !== 'string') throw createRequestError(`${path}.value`, 'must be a string');
    return { type: 'string', value: input.value };
  });
}

/** Parses `{rate, comment, responseId}`. Throws `invalid_request`. */
export function parseRating(value: unknown): Rating {
  const { rate, comment, responseId } = requireShape(ratingShape, withoutNulls(parseObject(value), optionalRatingFields));
  return { rate, ...(comment !== undefined && { comment }), ...(responseId !== undefined && { responseId }) };
}

/** Parses `{inputs: […]}`, for example with the requests to truncate. The inputs are not validated. Throws `invalid_request`. */
export function parseInputs(value: unknown): readonly unknown[] {
  const { inputs } = parseObject(value);
  if (!Array.isArray(inputs)) throw createRequestError('inputs', 'must be a list');
  if (inputs.length > maxInputs) throw createRequestError('inputs', `must have at most ${maxInputs} items`);
  return inputs;
}

function parseObject(value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  throw new ParleyError('invalid_request', 'The body must be a JSON object.');
}
