import { buildArray, buildObject, buildOptionalObject, type NamedSchema, type Schema, text } from './operation.ts';

export const count = { type: 'integer', minimum: 0 };
const index = { ...count, description: 'Items with the same index belong together.' };

const attachment: NamedSchema = {
  name: 'ReplyAttachment',
  schema: {
    type: 'object',
    description: 'Output in addition to the text. It has either `data` or `url`.',
    required: ['index'],
    properties: {
      index,
      type: { ...text, description: 'MIME type. Default: text/markdown.' },
      title: text,
      data: text,
      url: text,
      reference_type: text,
      reference_url: text,
    },
  },
};

const stageFields = {
  index,
  name: text,
  content: text,
  attachments: buildArray(attachment),
  status: { enum: ['completed', 'failed', null], description: 'null while the stage is open.' },
};

const stage: NamedSchema = {
  name: 'Stage',
  schema: {
    type: 'object',
    description: 'An intermediate step of the work.',
    required: ['index', 'name', 'status'],
    properties: stageFields,
  },
};

const stageDelta: NamedSchema = {
  name: 'StageDelta',
  schema: {
    type: 'object',
    description: 'Data that a chunk adds to the stage with this index. The first delta contains the name.',
    required: ['index'],
    properties: stageFields,
  },
};

const control: NamedSchema = {
  name: 'Control',
  schema: {
    type: 'object',
    description: 'A form element for the user. Send the input as `completed_control` of the next request.',
    required: ['index', 'label'],
    properties: { index, label: text, schema: { type: 'object', description: 'JSON Schema of the value.' } },
  },
};

/** Content of a complete reply in addition to its text, on every surface. */
export const customContent = toCustomContent(stage);

/** `custom_content` in a chunk. */
export const customContentDelta = toCustomContent(stageDelta);

function toCustomContent(stages: NamedSchema): Schema {
  return buildOptionalObject({
    attachments: buildArray(attachment),
    stages: buildArray(stages),
    controls: buildArray(control),
    state: { type: 'object', description: 'Send it back with the message in the next request.' },
  });
}

export const tokenCounts = { prompt_tokens: count, completion_tokens: count, total_tokens: count };

const modelUsage = {
  type: 'object',
  required: ['index', 'model', 'name', ...Object.keys(tokenCounts)],
  properties: {
    index: count,
    model: { ...text, description: 'ID of the deployment.' },
    name: { ...text, description: 'Same as `model`.' },
    ...tokenCounts,
    estimated: { type: 'boolean', description: 'Present and true if the upstream reported no counts.' },
    declared: {
      type: 'boolean',
      description: 'Present and true if a user-created application declared the counts. They are not billed.',
    },
  },
};

/** Token counts of each deployment that contributed to a reply. */
export const statistics = { type: 'object', properties: { usage_per_model: buildArray(modelUsage) } };

/** Usage of one limit of a project, a key, or a user. */
export const limitUsage: NamedSchema = {
  name: 'LimitUsage',
  schema: buildObject(
    {
      of: { ...text, description: 'The scope that is counted: `project:…`, `key:…`, or `user:…`.' },
      window: {
        ...text,
        description: 'Kind and period, such as `cost.month`. A limit of one deployment also names it, such as `tokens.day:gpt`.',
      },
      limit: { type: 'number', description: 'Tokens, requests, USD, or calls in progress.' },
      used: { type: 'number' },
      reserved: { type: 'number', description: 'Amount reserved for calls in progress. Absent if it is 0.' },
      remaining: { type: 'number' },
      resetsAt: { type: 'integer', description: 'Milliseconds since the epoch. Absent for calls in progress.' },
    },
    ['reserved', 'resetsAt', 'of'],
  ),
};
