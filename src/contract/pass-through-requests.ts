import { type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { refuseOtherCase, requireShape } from './errors/request-error.ts';
import { type PassThroughApi, passThroughApis } from './pass-through.ts';
import { cleaned } from './schemas/without-nulls.ts';

const model = Type.Optional(
  Type.String({ description: 'On deployment paths the deployment of the path is called, whatever this says.' }),
);
const stream = Type.Optional(Type.Boolean({ description: 'Whether the answer comes as events.' }));
const count = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }));
const textField = (description: string) => Type.String({ minLength: 1, description });
const file = (description: string) => Type.Unsafe<string>({ type: 'string', format: 'binary', description });
const images = {
  n: count('How many pictures.'),
  size: Type.Optional(Type.String({ description: 'Such as `1024x1024`.' })),
  response_format: Type.Optional(Type.Enum(['url', 'b64_json'])),
  stream,
};

const fields = {
  completions: {
    prompt: Type.Union([Type.String(), Type.Array(Type.Unknown(), { minItems: 1 })], {
      description: 'A text or its tokens, or a list of either.',
    }),
    max_tokens: Type.Optional(Type.Integer({ minimum: 0, description: 'Tokens that each text may have.' })),
    n: count('How many texts.'),
    stream,
    stream_options: Type.Optional(Type.Object({ include_usage: Type.Optional(Type.Boolean()) })),
  },
  moderations: {
    input: Type.Union([Type.String(), Type.Array(Type.Unknown(), { minItems: 1 })], {
      description: 'A text, texts, or parts with texts and pictures.',
    }),
  },
  'images/generations': { prompt: textField('What the picture shows.'), ...images },
  'images/edits': { prompt: textField('What the picture is to show.'), ...images },
  'audio/speech': {
    input: textField('The text to be spoken.'),
    voice: Type.Union([Type.String({ minLength: 1 }), Type.Object({ id: Type.String() })], { description: 'Who speaks it.' }),
    response_format: Type.Optional(Type.String({ description: 'Such as `mp3` or `wav`.' })),
    stream_format: Type.Optional(Type.Enum(['audio', 'sse'])),
  },
  'audio/transcriptions': { file: file('The sound.') },
  'audio/translations': { file: file('The sound.') },
  rerank: {
    query: textField('What is looked for.'),
    documents: Type.Array(Type.Union([Type.String(), Type.Object({})]), { minItems: 1, description: 'What is put in order.' }),
    top_n: count('How many of them are wanted.'),
    return_documents: Type.Optional(Type.Boolean()),
  },
} as const satisfies Record<PassThroughApi, Record<string, TSchema>>;

/** Validated fields of a request to each API. Other fields are passed on unchanged. */
export const passThroughRequests = Object.fromEntries(
  passThroughApis.map((api) => [api, Type.Object({ ...fields[api], model })]),
) as unknown as Readonly<Record<PassThroughApi, TSchema & { readonly required: readonly string[] }>>;

const compile = (schema: TSchema) => Compile(Type.Unsafe<JsonObject>(schema));
const anyShape = compile(Type.Object({}));
const shapes = Object.fromEntries(passThroughApis.map((api) => [api, compile(passThroughRequests[api])])) as Readonly<
  Record<PassThroughApi, ReturnType<typeof compile>>
>;

/** Validates a JSON request and omits fields that are null. Throws `invalid_request` for the first fault. */
export function parsePassThrough(api: PassThroughApi, value: unknown): JsonObject {
  if (!isJsonObject(value)) return requireShape(anyShape, value);
  refuseOtherCase(value, new Set([...Object.keys(fields[api]), 'model']));
  const request = cleaned(value, new Set(Object.keys(value)));
  return requireShape(shapes[api], request);
}
