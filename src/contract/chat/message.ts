import { type Static, type TSchema, Type } from 'typebox';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';

/** The names of speakers that OpenAI's API accepts. */
export const messageName = /^[^\s<|\\/>]{1,64}$/;

/** Characters that an older or narrower API refuses in the name of a speaker. */
export const refusedInNames = {
  /** Azure's API, and OpenAI's before it was widened. */
  azure: /[^a-zA-Z0-9_-]/g,
  /** The interface of applications (docs/wire.md, Chat request). */
  application: /[^a-zA-Z0-9_]/g,
} as const;

/** Anything else a caller sent: carried untouched. */
type UnknownFields = { [key: string]: unknown };

function withUnknownFields<Schema extends TSchema>(schema: Schema) {
  return Type.Unsafe<Static<Schema> & UnknownFields>(schema);
}

const anyObject = (description: string) => Type.Unsafe<UnknownFields>({ type: 'object', description });

const optionalText = (description: string) => Type.Optional(Type.String({ description }));

export const attachmentFields = {
  index: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Place among the attachments of the message, from 0. May be absent in a request.',
    }),
  ),
  type: optionalText('MIME type of the content. Absent: text/markdown.'),
  title: optionalText('Title shown to people.'),
  data: optionalText('The content in the format of `type`; base64 where that is binary.'),
  url: optionalText('Where the content is.'),
  reference_type: optionalText('MIME type of what `reference_url` points to.'),
  reference_url: optionalText('Where the attachment comes from.'),
};

/** Input or output beside the text; exactly one of `data` and `url`. */
export const Attachment = withUnknownFields(Type.Object(attachmentFields));
export type Attachment = Static<typeof Attachment>;

/** A control of the last reply, as the user filled it in. */
export const CompletedControl = withUnknownFields(
  Type.Object({
    label: Type.String({ description: 'Label of a control that the last reply offered.' }),
    value: Type.Optional(anyObject('What was filled in; follows the schema of the control.')),
  }),
);
export type CompletedControl = Static<typeof CompletedControl>;

/** What a message of a request has beside its text. */
export const CustomContent = withUnknownFields(
  Type.Object({
    attachments: Type.Optional(Type.Array(Attachment)),
    completed_control: Type.Optional(CompletedControl),
    state: Type.Optional(anyObject('State that the assistant gave with an earlier reply; assistant messages only.')),
  }),
);
export type CustomContent = Static<typeof CustomContent>;

/** A function the assistant chose, with its arguments as JSON text. */
const FunctionCall = withUnknownFields(
  Type.Object({ name: Type.String(), arguments: Type.String({ description: 'JSON text.' }) }),
);

/** A piece of a message's content, such as text or an image: the form of the OpenAI API, carried untouched. */
export const ContentPart = withUnknownFields(Type.Object({ type: Type.String() }));
export type ContentPart = Static<typeof ContentPart>;

const roles = ['system', 'user', 'assistant', 'function', 'developer', 'tool'] as const;

export const messageFields = {
  role: Type.Enum([...roles], { description: 'Who speaks.' }),
  content: Type.Optional(
    Type.Union([Type.String(), Type.Null(), Type.Array(ContentPart)], {
      description:
        'The text, or its parts. Needed but in assistant messages that call functions or tools and user messages with a completed control.',
    }),
  ),
  custom_content: Type.Optional(CustomContent),
  name: Type.Optional(
    Type.String({
      description:
        'In a function message: the function whose result `content` is. Letters, digits, underscore; at most 64. In other messages: who speaks, at most 64 characters without white space and `<`, `|`, `\\`, `/`, `>`.',
    }),
  ),
  function_call: Type.Optional(FunctionCall),
};

/** One message of a conversation (docs/wire.md, Chat request). Which fields go with which role: `parseMessage`. */
export const Message = withUnknownFields(Type.Object(messageFields));
export type Message = Static<typeof Message>;

/**
 * Marks a message of the role `user`, or a part of one, that holds the output of a tool or the choice of a model. The role is
 * `user` because models accept images from users only. JSON leaves the mark out.
 */
export const toolOutput = Symbol('tool output');

/** Whether the user did not write a message of the role `user`, or a part of it. */
export function isToolOutput(value: (Message | ContentPart) & { readonly [toolOutput]?: true }): boolean {
  return value[toolOutput] === true;
}

/** Whether the message says how the model is to work; it is none of what was said. */
export function isInstruction({ role }: Pick<Message, 'role'>): boolean {
  return role === 'system' || role === 'developer';
}

/** Whether the message is what a tool, or a function, gave. */
export function isResult({ role }: Pick<Message, 'role'>): boolean {
  return role === 'tool' || role === 'function';
}

/** The calls of tools that a message of the assistant holds, as they were sent, in their order. */
export function getToolCalls({ tool_calls: calls }: Message): JsonObject[] {
  return Array.isArray(calls) ? calls.filter(isJsonObject) : [];
}

/** What was said: the messages but for instructions. */
export function withoutInstructions(messages: readonly Message[]): Message[] {
  return messages.filter((message) => !isInstruction(message));
}

/** Returns whether a `function` message with this name answers the call. Names of messages have no dash, names of functions may. */
export function isResultName(name: string | undefined, called: string): boolean {
  return name === called || name === called.replaceAll('-', '_');
}

/**
 * Returns the messages and replaces each refused character in speaker names by `_`. Returns the original array if the names have
 * no such character.
 */
export function withReducedNames(messages: Message[], refused: RegExp): Message[] {
  if (!messages.some((message) => isSpeaker(message) && message.name?.search(refused) !== -1)) return messages;
  return messages.map((message) =>
    isSpeaker(message) && message.name !== undefined ? { ...message, name: message.name.replace(refused, '_') } : message,
  );
}

/** Returns whether the name belongs to a speaker. Results name a function or a tool. */
function isSpeaker({ role, name }: Message): boolean {
  return name !== undefined && role !== 'function' && role !== 'tool';
}
