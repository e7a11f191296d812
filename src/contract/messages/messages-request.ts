import { type Static, type TObject, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { isJsonObject } from '#base/json.ts';
import { refuseOtherCase, requestFault, requireShape } from '../request-fault.ts';
import type { MessagesRequest } from './dialect.ts';
import { parseParley } from './parley.ts';
import { parseBlocks } from './parse-blocks.ts';
import { withoutAbsent } from './without-absent.ts';

/** An object whose further fields are kept. */
const anyObject = (description: string) => Type.Unsafe<{ [key: string]: unknown }>({ type: 'object', description });

const toolName = Type.String({ pattern: '^[a-zA-Z0-9_-]{1,128}$' });

const message = Type.Object({
  role: Type.Enum(['user', 'assistant', 'system'], { description: 'Who speaks.' }),
  content: Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String() }))], {
    description: 'The text, or its blocks: text, images, documents, tool calls and results, thinking.',
  }),
  parley: Type.Optional(
    anyObject('For assistant messages: `parley` of the reply as it came; for user messages: `custom_content` with attachments.'),
  ),
});

const fields = {
  model: Type.String({ description: 'Id of the deployment.' }),
  messages: Type.Array(message, { minItems: 1 }),
  system: Type.Optional(Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String(), text: Type.String() }))])),
  tools: Type.Optional(
    Type.Array(
      Type.Object({
        name: toolName,
        type: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        description: Type.Optional(Type.String()),
        input_schema: Type.Optional(anyObject('A JSON Schema of an object.')),
      }),
    ),
  ),
  tool_choice: Type.Optional(
    Type.Object({
      type: Type.Enum(['auto', 'any', 'tool', 'none']),
      name: Type.Optional(toolName),
      disable_parallel_tool_use: Type.Optional(Type.Boolean()),
    }),
  ),
  thinking: Type.Optional(
    Type.Object(
      { type: Type.String(), budget_tokens: Type.Optional(Type.Integer({ minimum: 1 })) },
      { description: 'How the model thinks before it answers.' },
    ),
  ),
  output_config: Type.Optional(anyObject('Effort, and the form of the answer.')),
};

const generation = {
  max_tokens: Type.Integer({
    minimum: 0,
    description: 'Most tokens to generate. 0 fills the cache of the prompt, where the upstream speaks this dialect.',
  }),
  stream: Type.Optional(Type.Boolean({ default: false })),
  stop_sequences: Type.Optional(Type.Array(Type.String())),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: 1 })),
  top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: Type.Optional(Type.Integer({ minimum: 0 })),
  metadata: Type.Optional(
    Type.Object({ user_id: Type.Optional(Type.Union([Type.String(), Type.Null()])) }, { description: 'Who the end user is.' }),
  ),
};

/** The body of `POST …/v1/messages` (docs/wire.md, Messages), for documents; `parseMessagesRequest` checks it. Further fields are kept. */
export const MessagesBody = Type.Object({ ...fields, ...generation });

/** The body of `POST …/v1/messages/count_tokens`, for documents; `parseCountRequest` checks it. */
export const CountBody = Type.Object(fields);

/** What counting needs of a request. */
export type CountRequest = {
  [Key in keyof MessagesRequest as Key extends 'max_tokens' ? never : Key]: MessagesRequest[Key];
};

const messagesShape = toShape(MessagesBody);
const countShape = toShape(CountBody);
const knownInMessage: ReadonlySet<string> = new Set(Object.keys(message.properties));

/** A request of the messages dialect: known fields checked, others kept. Throws invalid_request for the first fault. */
export function parseMessagesRequest(value: unknown): MessagesRequest {
  return parse(messagesShape, value) as MessagesRequest;
}

/** The same for counting, which needs no `max_tokens`. */
export function parseCountRequest(value: unknown): CountRequest {
  return parse(countShape, value) as CountRequest;
}

interface BodyShape {
  readonly known: ReadonlySet<string>;
  /** Also those that only the other body knows. */
  readonly optional: ReadonlySet<string>;
  readonly check: (value: unknown) => Static<typeof CountBody>;
}

function toShape(body: TObject<typeof fields>): BodyShape {
  const shape = Compile(body);
  const required: readonly string[] = body.required ?? [];
  const optional = new Set(Object.keys({ ...fields, ...generation }).filter((field) => !required.includes(field)));
  return { known: new Set(Object.keys(body.properties)), optional, check: (value) => requireShape(shape, value) };
}

function parse({ known, optional, check }: BodyShape, value: unknown): Static<typeof CountBody> {
  if (isJsonObject(value)) refuseOtherCase(value, known);
  const body = check(isJsonObject(value) ? withoutAbsent(value, optional) : value);
  if (body.tool_choice?.type === 'tool' && body.tool_choice.name === undefined)
    throw requestFault('tool_choice.name', 'is required with the type tool');
  body.messages.forEach((each, index) => {
    const at = `messages[${index}]`;
    refuseOtherCase(each, knownInMessage, at);
    if (typeof each.content !== 'string') parseBlocks(each.content, { role: each.role, at: `${at}.content` });
    if (each.parley !== undefined) parseParley(each.role, each.parley, `${at}.parley`);
  });
  return body;
}
