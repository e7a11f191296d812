import { ChatRequest } from '#contract/chat/chat-request.ts';
import { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import { ApplicationEntry } from '#contract/configuration/deployments.ts';
import type { ErrorCode } from '#contract/errors/errors.ts';
import { isPassThroughApi, type PassThroughApi } from '#contract/pass-through.ts';
import { quickAppSuffix } from '#contract/quick-app/form.ts';
import {
  type ApiOperation,
  type ApiResponse,
  anyObject,
  buildObject,
  type Content,
  inPath,
  inQuery,
  json,
  listOperations,
  type NamedSchema,
  type Parameter,
  reply,
  text,
  toIdSuffix,
} from '../http/openapi/operation.ts';
import { compatCallErrors, compatErrorShape } from '../http/openapi/operation-errors.ts';
import { exampleNames, inBucket, inDeploymentPath, weatherTool } from '../http/openapi/operation-examples.ts';
import type { MethodOfPath } from '../http/path-methods.ts';
import { apisOfDeployments, canonicalPrefix, compatApis } from './path.ts';
import { chunk, completion, embeddings } from './reply-schema.ts';

export const chatErrors: readonly ErrorCode[] = [...compatCallErrors, 'control_not_offered', 'unknown_addon'];

const chatDescription =
  'With `stream: true`, the response is a stream of chunks, followed by `data: [DONE]`. An error after the first chunk is sent as one event `{"error": …}` before it. ' +
  'Parley forwards unlisted fields to the deployment unchanged. The response header `Parley-Ignored` lists the fields that did not reach a model. ';
const usageDescription = {
  compat: 'The last chunk has `usage` and `statistics`, and no choices.',
  openAi:
    'The last chunk has `usage` and `statistics`, and a choice with an empty delta, or no choices with `stream_options.include_usage`.',
};

const versionForm = 'Date in the form `YYYY-MM-DD`, optionally with `-preview`.';
const versionInQuery = 'Version of letters, digits, `.`, `-`, and `_`, such as `preview`.';
const monthAndDay = '((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))';
/** Years that are divisible by 4, except centuries that are not divisible by 400. */
const leapYear = '([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)';
const versionPattern = `^([0-9]{4}-${monthAndDay}|${leapYear}-02-29)(-preview)?$`;
const version = '2024-10-21';

/** Paths of the same form, one for each API. */
interface PathGroup {
  readonly path: string;
  readonly suffix: string;
  /** Whether `model` in the body names the deployment. Otherwise, the path names it. */
  readonly isNamedByBody: boolean;
  /** Whether streams follow the OpenAI API: a chunk without choices is sent only on request. */
  readonly isOpenAi: boolean;
  readonly toParameters: (deployment: string) => readonly Parameter[];
}

const byModel: PathGroup = { path: '/v1/{operation}', suffix: 'V1', isNamedByBody: true, isOpenAi: true, toParameters: () => [] };

/** Returns the operation of the Responses API for one group of paths. */
type ToResponse = (group: PathGroup) => ApiOperation;

/** Returns the operation of a pass-through API for one group of paths. */
type ToPassThrough = (api: PassThroughApi, group: PathGroup) => ApiOperation;

/**
 * Returns the operations for chat completions, embeddings, and pass-through APIs below each prefix, such as `compat` and
 * `openai`, and below `/v1` of the service and of each alias.
 */
export function chatCompletionOperations(
  prefixes: readonly string[],
  toPassThrough: ToPassThrough,
  toResponse: ToResponse,
): ApiOperation[] {
  const aliases = prefixes.filter((prefix) => prefix !== canonicalPrefix).flatMap(toAliases);
  return [byModel, ...prefixes.map(toPathGroup), ...aliases].flatMap((group) => {
    const passThroughApis = (group.isNamedByBody ? compatApis : apisOfDeployments).filter(isPassThroughApi);
    const calls = [toChat(group), toEmbeddings(group), ...passThroughApis.map((api) => toPassThrough(api, group))];
    return group.isNamedByBody ? calls : [...calls, toResponse(group)];
  });
}

function toAliases(prefix: string): PathGroup[] {
  const suffix = `V1_${toIdSuffix(prefix)}`;
  const olderClientGroup = { ...toPathGroup(prefix), path: `/${prefix}/v1/deployments/{id}/{operation}`, isOpenAi: true };
  return [
    { ...byModel, path: `/${prefix}/v1/{operation}`, suffix },
    { ...olderClientGroup, suffix: `${suffix}_deployments` },
  ];
}

/** Returns the paths that the document omits. Below each prefix, the version may be the last segment of the path or absent. */
export function listAliasOperations(prefixes: readonly string[]): MethodOfPath[] {
  const calls = apisOfDeployments.flatMap((api) => [api, `${api}/{api_version}`]);
  return prefixes.flatMap((prefix) => calls.map((call) => ({ method: 'post', path: `/${prefix}/deployments/{id}/${call}` })));
}

function toPathGroup(prefix: string): PathGroup {
  const hasVersionInPath = prefix === canonicalPrefix;
  const inAddress = hasVersionInPath
    ? { ...inPath('api_version', versionForm, version), schema: { type: 'string', pattern: versionPattern } }
    : inQuery('api-version', versionInQuery, { example: version, schema: { type: 'string', pattern: '^[A-Za-z0-9._-]+$' } });
  return {
    path: `/${prefix}/deployments/{id}/{operation}${hasVersionInPath ? '/{api_version}' : ''}`,
    suffix: toIdSuffix(prefix),
    isNamedByBody: false,
    isOpenAi: false,
    toParameters: (deployment) => [inDeploymentPath(deployment), inAddress],
  };
}

const chatResponse: ApiResponse = {
  status: 200,
  description: 'The completion or its chunks.',
  content: [...json(completion), { type: 'text/event-stream', schema: chunk }],
};

function toChat({ path, suffix, isNamedByBody, isOpenAi, toParameters }: PathGroup): ApiOperation {
  return {
    method: 'post',
    path: path.replace('{operation}', 'chat/completions'),
    id: `createChatCompletion_${suffix}`,
    tag: 'Chat',
    summary: 'Create a chat completion',
    description: chatDescription + (isOpenAi ? usageDescription.openAi : usageDescription.compat),
    parameters: toParameters(exampleNames.chat),
    body: json(
      isNamedByBody ? chatRequestByModel : chatRequest,
      toChatExamples(isNamedByBody ? { model: exampleNames.chat } : {}),
    ),
    responses: [
      chatResponse,
      {
        status: 'default',
        description: 'A 4xx or 501 response of an application, unchanged.',
        content: json(compatErrorShape.body),
      },
    ],
    errors: chatErrors,
  };
}

function toEmbeddings({ path, suffix, isNamedByBody, toParameters }: PathGroup): ApiOperation {
  const model = isNamedByBody ? { model: exampleNames.embedding } : {};
  return {
    method: 'post',
    path: path.replace('{operation}', 'embeddings'),
    id: `createEmbeddings_${suffix}`,
    tag: 'Embeddings',
    summary: 'Create embeddings',
    parameters: toParameters(exampleNames.embedding),
    body: json(isNamedByBody ? embeddingsRequestByModel : embeddingsRequest, {
      texts: {
        summary: 'Two texts',
        value: { ...model, input: ['A loan can be renewed twice.', 'Books are kept for three weeks.'] },
      },
      base64: {
        summary: 'Short vector in base64',
        value: { ...model, input: 'Hello', dimensions: 8, encoding_format: 'base64' },
      },
    }),
    responses: [reply(200, 'The embeddings.', embeddings)],
    errors: compatCallErrors,
  };
}

export function toChatExamples(model: object): Content['examples'] {
  const createExample = (content: string, extra: object = {}) => ({ ...model, messages: [{ role: 'user', content }], ...extra });
  return {
    reply: { summary: 'Completion as one JSON document', value: createExample('Hello') },
    stream: { summary: 'Completion as a stream', value: createExample('Count to 3', { stream: true }) },
    everything: { summary: 'Completion with stages, an attachment, and controls', value: createExample('Show me everything') },
    everythingStreamed: {
      summary: 'Stream with stages, an attachment, and controls',
      value: createExample('Show me everything', { stream: true }),
    },
    function: {
      summary: 'Function that the client runs',
      value: createExample('What is the weather in the city Oslo?', { functions: [weatherTool] }),
    },
    attachment: {
      summary: 'Message with an attachment and a state',
      value: {
        ...model,
        messages: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: 'Hello!', custom_content: { state: { greeted: true } } },
          {
            role: 'user',
            content: 'What is in it?',
            custom_content: { attachments: [{ type: 'text/plain', title: 'Hours', data: 'Open from 9 to 17.' }] },
          },
        ],
      },
    },
  };
}

const jsonSchema = { ...anyObject, description: 'A JSON Schema.' };

const toolCalls = {
  type: ['array', 'null'],
  description: 'Assistant messages only: the tools that the model called.',
  items: buildObject(
    {
      id: text,
      type: { ...text, description: '`function`, or another type that the upstream supports.' },
      function: buildObject({ name: text, arguments: { ...text, description: 'JSON text.' } }),
    },
    ['function'],
  ),
};

const toolFunction = {
  type: 'object',
  required: ['name'],
  properties: { name: text, description: text, parameters: jsonSchema, strict: { type: ['boolean', 'null'] } },
};

/** Fields of the OpenAI API that Parley forwards without validation. */
const passedFields = {
  tools: {
    type: ['array', 'null'],
    description: 'Tools that the model may call and the client runs.',
    items: buildObject({ type: text, function: toolFunction }, ['function']),
  },
  tool_choice: {
    type: ['string', 'object', 'null'],
    description: '`none`, `auto`, `required`, or an object that names one tool.',
  },
  parallel_tool_calls: { type: ['boolean', 'null'], description: 'Whether one reply may call several tools.' },
  response_format: {
    type: ['object', 'null'],
    description: 'The form of the reply: `text`, `json_object`, or `json_schema` with a schema.',
    properties: {
      type: text,
      json_schema: {
        type: 'object',
        required: ['name'],
        properties: { name: text, description: text, schema: jsonSchema, strict: { type: ['boolean', 'null'] } },
      },
    },
  },
  stream_options: {
    type: ['object', 'null'],
    properties: { include_usage: { type: 'boolean', description: 'Whether the last chunk has `usage` and no choices.' } },
  },
  max_completion_tokens: { type: ['integer', 'null'], description: 'Maximum number of generated tokens, reasoning included.' },
  seed: { type: ['integer', 'null'], description: 'Requests the same reply to the same request.' },
  reasoning_effort: {
    type: ['string', 'null'],
    description: 'Reasoning effort of the model, such as `low`, `medium`, or `high`.',
  },
};

function toChatSchema(required: readonly string[]): object {
  const { messages, ...fields } = ChatRequest.properties;
  const { items } = messages as unknown as { readonly items: { readonly properties: object } };
  const toolCallId = {
    type: ['string', 'null'],
    description: 'Tool messages only: the id of the call that the message answers.',
  };
  const message = { ...items, properties: { ...items.properties, tool_calls: toolCalls, tool_call_id: toolCallId } };
  return { ...ChatRequest, required, properties: { messages: { ...messages, items: message }, ...fields, ...passedFields } };
}

/** Body of a chat completion whose path names the deployment. */
const chatRequest: NamedSchema = { name: 'ChatRequest', schema: toChatSchema(ChatRequest.required) };
/** Body of a chat completion whose `model` names the deployment. */
export const chatRequestByModel: NamedSchema = {
  name: 'ChatRequestByModel',
  schema: toChatSchema(['model', ...ChatRequest.required]),
};
/** Body of an embeddings request whose path names the deployment. */
const embeddingsRequest: NamedSchema = { name: 'EmbeddingsRequest', schema: EmbeddingsRequest };
/** Body of an embeddings request whose `model` names the deployment. */
const embeddingsRequestByModel: NamedSchema = {
  name: 'EmbeddingsRequestByModel',
  schema: { ...EmbeddingsRequest, required: ['model', ...EmbeddingsRequest.required] },
};

const application = { name: 'Application', schema: ApplicationEntry } as const;
const draft = { name: 'ApplicationDraft', schema: buildObject({ application, request: chatRequest }) } as const;

const example = {
  application: {
    applicationTypeSchemaId: `https://parley.example${quickAppSuffix}`,
    applicationProperties: { model: exampleNames.chat, temperature: 0, instructions: 'You help visitors of the library.' },
  },
  request: { messages: [{ role: 'user', content: 'When is it open?' }] },
};

/** Operation that calls an unsaved application. */
export const draftOperations = listOperations(
  { tag: 'Chat' },
  {
    'post /v1/drafts/applications/{bucket}/{path}': {
      id: 'tryApplication',
      summary: 'Answer with an unsaved application',
      description:
        'The application answers as if it were saved. The saved application does not change. Only the owner of the bucket may do this. The path names the saved application, or is `unsaved`. A secret that is `***` comes from the saved application, if there is one. The reply is a chat completion.',
      parameters: [inBucket, inPath('path', 'Path of the application in the bucket.', exampleNames.ownApplication)],
      body: json(draft, { draft: { summary: 'A quick app', value: example } }),
      responses: [chatResponse],
      errors: chatErrors,
    },
  },
);
