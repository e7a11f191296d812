import { type Static, type TSchema, Type } from 'typebox';
import { isJsonObject } from '#base/json/json.ts';
import { checkFields, requireShape } from '../errors/request-error.ts';
import { compileShape } from '../schemas/compile-shape.ts';
import { withoutNulls } from '../schemas/normalize-request.ts';
import { modelField } from './message.ts';

const someInputs = { minItems: 1, maxItems: 2048 };
const Text = Type.String({ minLength: 1 });
const Tokens = Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 });
const Texts = Type.Array(Text, someInputs);
const TokenLists = Type.Array(Tokens, someInputs);

const options = {
  model: modelField,
  encoding_format: Type.Optional(Type.Enum(['float', 'base64'], { default: 'float' })),
  dimensions: Type.Optional(Type.Integer({ minimum: 1, description: 'Length of each vector, if the model supports a choice.' })),
  user: Type.Optional(Type.String({ description: 'Identifier of the end user.' })),
};

/**
 * The body of an embeddings call, as in the OpenAI API, for the API description. `parseEmbeddingsRequest` validates it. Unknown
 * fields are passed on unchanged.
 */
export const EmbeddingsRequest = Type.Object({
  input: Type.Union([Text, Texts, Tokens, TokenLists], { description: 'A text or its tokens, or up to 2048 of either.' }),
  ...options,
});
export type EmbeddingsRequest = Static<typeof EmbeddingsRequest> & { [key: string]: unknown };

const knownFields: ReadonlySet<string> = new Set(['input', ...Object.keys(options)]);
const nullable: ReadonlySet<string> = new Set(Object.keys(options));
const inputShape = compileShape(Type.Object({ input: Type.Union([Type.String(), Type.Array(Type.Unknown())]) }));
const textShape = compileInput(Text);
const textsShape = compileInput(Texts);
const tokensShape = compileInput(Tokens);
const tokenListsShape = compileInput(TokenLists);
const optionsShape = compileShape(Type.Object(options));

/**
 * Validates an embeddings request and omits optional fields that are null. Throws `invalid_request` for the first error, starting
 * with `input`.
 */
export function parseEmbeddingsRequest(value: unknown): EmbeddingsRequest {
  if (isJsonObject(value)) checkFields(value, knownFields);
  const request = withoutNulls(value, nullable);
  const { input } = requireShape(inputShape, request);
  requireShape(getShape(input), request);
  requireShape(optionsShape, request);
  return request as EmbeddingsRequest;
}

function compileInput(input: TSchema) {
  return compileShape(Type.Unsafe<{ input: unknown }>(Type.Object({ input })));
}

/** Returns the shape that the first item indicates. */
function getShape(input: string | unknown[]) {
  if (typeof input === 'string') return textShape;
  if (typeof input[0] === 'number') return tokensShape;
  return Array.isArray(input[0]) ? tokenListsShape : textsShape;
}
