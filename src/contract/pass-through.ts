import { type TSchema, Type } from 'typebox';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { modelField } from './chat/message.ts';
import { checkFields, requireShape } from './errors/request-error.ts';
import { compileShape } from './schemas/compile-shape.ts';
import { withoutNulls } from './schemas/normalize-request.ts';

/** Properties of an API whose requests and responses are passed through. */
export interface PassThroughTraits {
  /** Request format: JSON, a form with files, or both. */
  readonly accepts: 'json' | 'form' | 'either';
  /** Fields whose text is used to estimate prompt tokens if the upstream does not report them. */
  readonly promptFields: readonly string[];
  /** Required field of a JSON response. */
  readonly answerField: string;
  /** Media types of responses that are neither JSON nor events. If undefined, such responses are not valid. */
  readonly rawTypes?: RegExp;
  /** Event `type` that must end a streamed response. If undefined, `[DONE]` ends it. */
  readonly lastEvent?: string;
}

const textTypes = /^(?:text\/(?:plain|vtt|srt)|application\/(?:x-)?(?:subrip|srt)|text\/x-subrip)\b/i;
const audioTypes = /^(?:audio\/|application\/octet-stream\b|application\/ogg\b)/i;

const traits = {
  completions: { accepts: 'json', promptFields: ['prompt', 'suffix'], answerField: 'choices' },
  moderations: { accepts: 'json', promptFields: ['input'], answerField: 'results' },
  'images/generations': {
    accepts: 'json',
    promptFields: ['prompt'],
    answerField: 'data',
    lastEvent: 'image_generation.completed',
  },
  'images/edits': {
    accepts: 'either',
    promptFields: ['prompt'],
    answerField: 'data',
    lastEvent: 'image_edit.completed',
  },
  'audio/speech': {
    accepts: 'json',
    promptFields: ['input', 'instructions'],
    answerField: 'audio',
    rawTypes: audioTypes,
    lastEvent: 'speech.audio.done',
  },
  'audio/transcriptions': {
    accepts: 'form',
    promptFields: ['prompt'],
    answerField: 'text',
    rawTypes: textTypes,
    lastEvent: 'transcript.text.done',
  },
  'audio/translations': { accepts: 'form', promptFields: ['prompt'], answerField: 'text', rawTypes: textTypes },
  rerank: { accepts: 'json', promptFields: ['query', 'documents'], answerField: 'results' },
} as const satisfies Record<string, PassThroughTraits>;

/** An API in the style of OpenAI, except chat completions, responses, and embeddings. The name is its path below `/v1`. */
export type PassThroughApi = keyof typeof traits;

/** Properties of each API (docs/wire.md, Further APIs). */
export const passThroughTraits: Readonly<Record<PassThroughApi, PassThroughTraits>> = traits;

export const passThroughApis = Object.keys(traits) as PassThroughApi[];

export function isPassThroughApi(name: string): name is PassThroughApi {
  return Object.hasOwn(traits, name);
}

const stream = Type.Optional(Type.Boolean({ description: 'Whether to stream the response as events.' }));
const count = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }));
const textField = (description: string) => Type.String({ minLength: 1, description });
const file = (description: string) => Type.Unsafe<string>({ type: 'string', format: 'binary', description });
const images = {
  n: count('Number of images.'),
  size: Type.Optional(Type.String({ description: 'Size, such as `1024x1024`.' })),
  response_format: Type.Optional(Type.Enum(['url', 'b64_json'])),
  stream,
};

const fields = {
  completions: {
    prompt: Type.Union([Type.String(), Type.Array(Type.Unknown(), { minItems: 1 })], {
      description: 'A text or its tokens, or a list of either.',
    }),
    max_tokens: Type.Optional(Type.Integer({ minimum: 0, description: 'Maximum number of tokens of each completion.' })),
    n: count('Number of completions.'),
    stream,
    stream_options: Type.Optional(Type.Object({ include_usage: Type.Optional(Type.Boolean()) })),
  },
  moderations: {
    input: Type.Union([Type.String(), Type.Array(Type.Unknown(), { minItems: 1 })], {
      description: 'A text, several texts, or parts with text and images.',
    }),
  },
  'images/generations': { prompt: textField('Description of the image.'), ...images },
  'images/edits': { prompt: textField('Description of the edited image.'), ...images },
  'audio/speech': {
    input: textField('Text to speak.'),
    voice: Type.Union([Type.String({ minLength: 1 }), Type.Object({ id: Type.String() })], {
      description: 'Name or ID of the voice.',
    }),
    response_format: Type.Optional(Type.String({ description: 'Audio format, such as `mp3` or `wav`.' })),
    stream_format: Type.Optional(Type.Enum(['audio', 'sse'])),
  },
  'audio/transcriptions': { file: file('Audio file.') },
  'audio/translations': { file: file('Audio file.') },
  rerank: {
    query: textField('Search query.'),
    documents: Type.Array(Type.Union([Type.String(), Type.Object({})]), { minItems: 1, description: 'Documents to rank.' }),
    top_n: count('Maximum number of results.'),
    return_documents: Type.Optional(Type.Boolean()),
  },
} as const satisfies Record<PassThroughApi, Record<string, TSchema>>;

/** Validated fields of a request to each API. Other fields are passed on unchanged. */
export const passThroughRequests = Object.fromEntries(
  passThroughApis.map((api) => [api, Type.Object({ ...fields[api], model: modelField })]),
) as unknown as Readonly<Record<PassThroughApi, TSchema & { readonly required: readonly string[] }>>;

const compile = (schema: TSchema) => compileShape(Type.Unsafe<JsonObject>(schema));
const anyShape = compile(Type.Object({}));
const shapes = Object.fromEntries(passThroughApis.map((api) => [api, compile(passThroughRequests[api])])) as Readonly<
  Record<PassThroughApi, ReturnType<typeof compile>>
>;

/** Validates a JSON request and omits fields that are null. Throws `invalid_request` for the first error. */
export function parsePassThrough(api: PassThroughApi, value: unknown): JsonObject {
  if (!isJsonObject(value)) return requireShape(anyShape, value);
  checkFields(value, new Set([...Object.keys(fields[api]), 'model']));
  const request = withoutNulls(value, new Set(Object.keys(value)));
  return requireShape(shapes[api], request);
}
