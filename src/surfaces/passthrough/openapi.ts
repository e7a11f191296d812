import { type PassThroughApi, type PassThroughTraits, passThroughRequests, passThroughTraits } from '#contract/pass-through.ts';
import {
  type ApiOperation,
  type ApiResponse,
  type Content,
  json,
  type NamedSchema,
  type Parameter,
  traceparent,
} from '../http/openapi/operation.ts';
import { compatCallErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames } from '../http/openapi/operation-examples.ts';

/** One of the paths where an API is available. */
interface ApiPath {
  /** Path with `{operation}` as a placeholder for the API. */
  readonly path: string;
  /** Suffix of the operation ID. */
  readonly suffix: string;
  /** Whether `model` in the body names the deployment. */
  readonly isNamedByBody: boolean;
  readonly toParameters: (deployment: string) => readonly Parameter[];
}

interface OperationText {
  readonly id: string;
  readonly summary: string;
  readonly example: Readonly<Record<string, unknown>>;
}

const operationTexts: Readonly<Record<PassThroughApi, OperationText>> = {
  completions: {
    id: 'createCompletion',
    summary: 'Complete a text',
    example: { prompt: 'The library is', max_tokens: 16 },
  },
  moderations: { id: 'createModeration', summary: 'Moderate a text', example: { input: 'A text.' } },
  'images/generations': { id: 'createImage', summary: 'Create images', example: { prompt: 'A cat with a hat', n: 1 } },
  'images/edits': {
    id: 'createImageEdit',
    summary: 'Edit an image',
    example: { image: 'the bytes of a picture', prompt: 'A cat with a hat' },
  },
  'audio/speech': { id: 'createSpeech', summary: 'Convert text to speech', example: { input: 'We are open.', voice: 'alloy' } },
  'audio/transcriptions': {
    id: 'createTranscription',
    summary: 'Transcribe speech',
    example: { file: 'the bytes of a recording' },
  },
  'audio/translations': {
    id: 'createTranslation',
    summary: 'Translate speech into English',
    example: { file: 'the bytes of a recording' },
  },
  rerank: {
    id: 'rerank',
    summary: 'Rerank documents',
    example: { query: 'When is it open?', documents: ['It is open from 9 to 17.', 'Books are kept for three weeks.'], top_n: 1 },
  },
};

const description =
  'Parley forwards the request to an upstream of the model and returns its response unchanged. Parley replaces `model`, adds the `defaults` of the model, removes fields that are null, and validates the listed fields. ' +
  'One of the model’s upstreams must list the API in `api`. ';
const formDescription =
  'Parley forwards a form while it arrives. The field `model` may have any position. If more than 32 MiB arrive before it, the response is 413.';

/** Returns the operation of one API at one path. */
export function passThroughOperation(api: PassThroughApi, location: ApiPath): ApiOperation {
  const { id, summary, example } = operationTexts[api];
  const traits: PassThroughTraits = passThroughTraits[api];
  const model = location.isNamedByBody ? { model: exampleNames.passThroughModel } : {};
  return {
    method: 'post',
    path: location.path.replace('{operation}', api),
    id: `${id}_${location.suffix}`,
    tag: 'Further APIs',
    summary,
    description: description + (traits.accepts === 'json' ? '' : formDescription),
    parameters: [...location.toParameters(exampleNames.passThroughModel), ...(traits.accepts === 'either' ? [traceparent] : [])],
    body: toBody(api, location.isNamedByBody, { ...model, ...example }),
    responses: [toResponse(api)],
    errors: compatCallErrors,
  };
}

function toBody(api: PassThroughApi, isNamedByBody: boolean, value: object): readonly Content[] {
  const { accepts }: PassThroughTraits = passThroughTraits[api];
  const schema = toSchema(api, isNamedByBody);
  const examples = { usual: { summary: 'Typical request', value } };
  const form: Content = { type: 'multipart/form-data', schema, examples };
  if (accepts === 'form') return [form];
  const exampleByUrl = { ...value, image: undefined, images: [{ image_url: 'https://example.com/cat.png' }] };
  return accepts === 'json'
    ? json(schema, examples)
    : [form, ...json(schema, { byAddress: { summary: 'By URL', value: exampleByUrl } })];
}

function toSchema(api: PassThroughApi, isNamedByBody: boolean): NamedSchema {
  const schema = passThroughRequests[api];
  const name = `${api.replaceAll(/(?:^|\/)(\w)/g, (_, letter: string) => letter.toUpperCase())}Request`;
  return isNamedByBody
    ? { name: `${name}ByModel`, schema: { ...schema, required: ['model', ...schema.required] } }
    : { name, schema };
}

function toResponse(api: PassThroughApi): ApiResponse {
  const { answerField: answer, rawTypes: raw, lastEvent }: PassThroughTraits = passThroughTraits[api];
  const streams = lastEvent !== undefined || api === 'completions';
  return {
    status: 200,
    description: 'The response of the upstream.',
    content: [
      ...json({ type: 'object', required: [answer] }),
      ...(streams ? [{ type: 'text/event-stream', schema: { type: 'object' } }] : []),
      ...(raw === undefined ? [] : [{ type: '*/*', schema: {} }]),
    ],
  };
}
