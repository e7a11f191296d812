import { type Static, type TSchema, Type } from 'typebox';
import { filterObjects, type JsonObject } from '#base/json/json.ts';
import { anyObject } from '../schemas/type-builders.ts';

/** Speaker names that the OpenAI API accepts. */
export const messageNamePattern = /^[^\s<|\\/>]{1,64}$/;

/** Characters in speaker names that an older or narrower API rejects. */
export const rejectedNameCharacters = {
  /** For the API of Azure, and an earlier version of the OpenAI API. */
  azure: /[^a-zA-Z0-9_-]/g,
  /** For the interface of applications (docs/wire.md, Chat request). */
  application: /[^a-zA-Z0-9_]/g,
} as const;

/** Unknown fields of the client, passed on unchanged. */
type UnknownFields = { [key: string]: unknown };

function withUnknownFields<Schema extends TSchema>(schema: Schema) {
  return Type.Unsafe<Static<Schema> & UnknownFields>(schema);
}

const optionalText = (description: string) => Type.Optional(Type.String({ description }));

/** Field `model` of the requests that name a deployment in the path or in the body. */
export const modelField = Type.Optional(
  Type.String({ description: 'ID of the deployment. On deployment paths, the ID in the path takes precedence.' }),
);

export const attachmentFields = {
  index: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Position among the attachments of the message, from 0. Optional in requests.',
    }),
  ),
  type: optionalText('MIME type of the content. Absent: text/markdown.'),
  title: optionalText('Title for users.'),
  data: optionalText('The content in the format of `type`, in base64 if it is binary.'),
  url: optionalText('URL of the content.'),
  reference_type: optionalText('MIME type of the resource at `reference_url`.'),
  reference_url: optionalText('URL of the source of the attachment.'),
};

/** Input or output in addition to the text. It has exactly one of `data` and `url`. */
export const Attachment = withUnknownFields(Type.Object(attachmentFields));
export type Attachment = Static<typeof Attachment>;

/** A control of the last reply with the values of the user. */
export const CompletedControl = withUnknownFields(
  Type.Object({
    label: Type.String({ description: 'Label of a control that the last reply offered.' }),
    value: Type.Optional(anyObject('Value of the control. It must follow the schema of the control.')),
  }),
);
export type CompletedControl = Static<typeof CompletedControl>;

/** Content of a request message in addition to its text. */
export const CustomContent = withUnknownFields(
  Type.Object({
    attachments: Type.Optional(Type.Array(Attachment)),
    completed_control: Type.Optional(CompletedControl),
    state: Type.Optional(anyObject('State from an earlier reply. Only assistant messages can contain it.')),
  }),
);
export type CustomContent = Static<typeof CustomContent>;

/** A function call of the assistant. Its arguments are JSON text. */
const FunctionCall = withUnknownFields(
  Type.Object({ name: Type.String(), arguments: Type.String({ description: 'JSON text.' }) }),
);

/** A part of the message content, such as text or an image, in the form of the OpenAI API. It is passed on unchanged. */
export const ContentPart = withUnknownFields(Type.Object({ type: Type.String() }));
export type ContentPart = Static<typeof ContentPart>;

const roles = ['system', 'user', 'assistant', 'function', 'developer', 'tool'] as const;

export const messageFields = {
  role: Type.Enum([...roles], { description: 'Author of the message.' }),
  content: Type.Optional(
    Type.Union([Type.String(), Type.Null(), Type.Array(ContentPart)], {
      description:
        'The text, or its parts. Required, except in assistant messages that call functions or tools and in user messages with a completed control.',
    }),
  ),
  custom_content: Type.Optional(CustomContent),
  name: Type.Optional(
    Type.String({
      description:
        'In a function message: name of the function, with up to 64 letters, digits, `_`, and `-`. In other messages: name of the author, with up to 64 characters, without white space, `<`, `|`, `\\`, `/`, and `>`.',
    }),
  ),
  function_call: Type.Optional(FunctionCall),
};

/** A message of a conversation (docs/wire.md, Chat request). `parseMessage` checks which fields are valid for which role. */
export const Message = withUnknownFields(Type.Object(messageFields));
export type Message = Static<typeof Message>;

/**
 * Marks a user message, or a part of one, that holds the output of a tool, or a text that a model wrote. The role is `user`
 * because models accept images only from users. JSON omits the mark.
 */
export const toolOutput = Symbol('tool output');

/** Returns whether a user message, or a part of one, holds the output of a tool or a model instead of text from the user. */
export function isToolOutput(value: (Message | ContentPart) & { readonly [toolOutput]?: true }): boolean {
  return value[toolOutput] === true;
}

/** Returns whether the message is an instruction for the model instead of a part of the conversation. */
export function isInstruction({ role }: Pick<Message, 'role'>): boolean {
  return role === 'system' || role === 'developer';
}

/** Returns whether the message is the result of a tool or function. */
export function isResult({ role }: Pick<Message, 'role'>): boolean {
  return role === 'tool' || role === 'function';
}

/** Returns the tool calls of an assistant message, unchanged and in order. */
export function getToolCalls({ tool_calls: calls }: Message): JsonObject[] {
  return filterObjects(calls);
}

/** Returns the messages except instructions. */
export function withoutInstructions(messages: readonly Message[]): Message[] {
  return messages.filter((message) => !isInstruction(message));
}

/**
 * Returns whether a `function` message with this name answers the call. Message names cannot contain dashes, but function names
 * can.
 */
export function isResultName(name: string | undefined, functionName: string): boolean {
  return name === functionName || name === functionName.replaceAll('-', '_');
}

/** Replaces each rejected character in speaker names with `_`. Returns the original array if there are no such characters. */
export function withAcceptedNames(messages: Message[], rejected: RegExp): Message[] {
  if (!messages.some((message) => isSpeaker(message) && message.name?.search(rejected) !== -1)) return messages;
  return messages.map((message) =>
    isSpeaker(message) && message.name !== undefined ? { ...message, name: message.name.replace(rejected, '_') } : message,
  );
}

/** Returns whether the name belongs to a speaker. In result messages, the name is that of a function or tool. */
function isSpeaker({ role, name }: Message): boolean {
  return name !== undefined && role !== 'function' && role !== 'tool';
}
