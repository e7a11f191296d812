import { isJsonObject } from '#base/json/json.ts';
import { checkFields, createRequestError, requireShape, requireUrlLength } from '../errors/request-error.ts';
import { compileShape } from '../schemas/compile-shape.ts';
import { mapField, mapItems, withoutNulls } from '../schemas/normalize-request.ts';
import {
  type Attachment,
  attachmentFields,
  type ContentPart,
  type CustomContent,
  isInstruction,
  Message,
  messageFields,
  messageNamePattern,
} from './message.ts';

const shape = compileShape(Message, { isEager: true });
const forwardedFields = ['tool_calls', 'tool_call_id'];
const knownFields: ReadonlySet<string> = new Set([...Object.keys(messageFields), ...forwardedFields]);
/** Optional fields whose null counts as absence, because SDKs send null. Null as content has a separate error message. */
const nullable = {
  message: new Set(['custom_content', 'name', 'function_call', ...forwardedFields]),
  custom_content: new Set(['attachments', 'completed_control', 'state', 'controls', 'stages']),
  completed_control: new Set(['value']),
  attachment: new Set(Object.keys(attachmentFields)),
};
const functionNamePattern = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Validates a message and omits optional fields that are null (docs/wire.md, Chat request). Throws `invalid_request`. `path`
 * locates the message, such as `messages[2]`.
 */
export function parseMessage(value: unknown, path: string): Message {
  const hasNull = isJsonObject(value) && checkFields(value, knownFields, path);
  const needsNoCleanup = !hasNull && (!isJsonObject(value) || value.custom_content === undefined);
  const message = requireShape(shape, needsNoCleanup ? value : withoutNullFields(value), path);
  if (message.content === undefined || message.content === null) rejectMissingContent(message, path);
  else if (Array.isArray(message.content))
    for (const [index, part] of message.content.entries()) checkPart(part, `${path}.content[${index}]`);
  if (message.custom_content !== undefined) checkCustomContent(message, message.custom_content, `${path}.custom_content`);
  if (message.name !== undefined || message.role === 'function') checkName(message, path);
  if (message.function_call !== undefined && message.role !== 'assistant') {
    throw createRequestError(`${path}.function_call`, 'is for assistant messages only');
  }
  return message;
}

function withoutNullFields(value: unknown): unknown {
  return mapField(withoutNulls(value, nullable.message), 'custom_content', (customContent) => {
    const custom = withoutNulls(customContent, nullable.custom_content);
    const control = mapField(custom, 'completed_control', (completed) => withoutNulls(completed, nullable.completed_control));
    return mapField(control, 'attachments', (attachments) =>
      mapItems(attachments, (attachment) => withoutNulls(attachment, nullable.attachment)),
    );
  });
}

/** Throws if a message has neither content nor a field that replaces it. */
function rejectMissingContent(message: Message, path: string): void {
  const { role, custom_content: custom } = message;
  if (role === 'assistant' && (message.function_call !== undefined || (message.tool_calls ?? null) !== null)) return;
  if (role === 'user' && custom?.completed_control !== undefined) return;
  if (message.content === null && role !== 'assistant')
    throw createRequestError(`${path}.content`, 'must be a string or an array of content parts, not null');
  throw createRequestError(
    `${path}.content`,
    'is required, except in an assistant message with a function or tool call and in a user message with a completed control',
  );
}

/** Validates the URL of an image. Other fields of content parts are passed on unchanged. */
function checkPart({ image_url: image }: ContentPart, path: string): void {
  const url = isJsonObject(image) ? image.url : image;
  if (typeof url === 'string') requireUrlLength(url, isJsonObject(image) ? `${path}.image_url.url` : `${path}.image_url`);
}

function checkCustomContent(message: Message, custom: CustomContent, path: string): void {
  const { role } = message;
  if (isInstruction(message)) throw createRequestError(path, `is not allowed in a ${role} message`);
  if (custom.completed_control !== undefined && role !== 'user')
    throw createRequestError(`${path}.completed_control`, 'is for user messages only');
  if (custom.state !== undefined && role !== 'assistant')
    throw createRequestError(`${path}.state`, 'is for assistant messages only');
  for (const field of ['controls', 'stages']) {
    if (role === 'user' && (custom[field] ?? null) !== null)
      throw createRequestError(`${path}.${field}`, 'is not allowed in a user message');
  }
  custom.attachments?.forEach((attachment, index) => {
    checkAttachment(attachment, index, `${path}.attachments[${index}]`);
  });
}

function checkAttachment({ index, data, url, reference_url }: Attachment, position: number, path: string): void {
  if (index !== undefined && index !== position)
    throw createRequestError(`${path}.index`, `must be ${position}: attachments are numbered from 0 in order`);
  const hasData = data !== undefined;
  if (hasData === (url !== undefined))
    throw createRequestError(path, hasData ? 'must not have both data and url' : 'must have data or url');
  if (url !== undefined) requireUrlLength(url, `${path}.url`);
  if (reference_url !== undefined) requireUrlLength(reference_url, `${path}.reference_url`);
}

function checkName({ role, name }: Message, path: string): void {
  if (name === undefined) throw createRequestError(`${path}.name`, 'is required in a function message');
  if (role === 'tool') return;
  const pattern = role === 'function' ? functionNamePattern : messageNamePattern;
  if (!pattern.test(name)) throw createRequestError(`${path}.name`, `must match ${pattern.source}`);
}
