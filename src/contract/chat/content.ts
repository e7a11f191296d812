import type { ChatRequest } from './chat-request.ts';
import type { Attachment, CompletedControl, ContentPart, Message } from './message.ts';

const readableTypes = /^(text\/|application\/(json|xml|yaml|x-yaml|[^;]*\+json|[^;]*\+xml)(;|$))/i;

/**
 * Returns the request without `custom_content`, for upstreams that support only the OpenAI API. Attachments become content parts,
 * and a completed control becomes text. State, stages, and controls are dropped. Returns the same object if no message has custom
 * content.
 */
export function toPlainRequest(request: ChatRequest): ChatRequest {
  for (const { custom_content: custom } of request.messages)
    if (custom !== undefined) return { ...request, messages: request.messages.map(toPlainMessage) };
  return request;
}

function toPlainMessage(message: Message): Message {
  const { custom_content: custom, ...plain } = message;
  if (custom === undefined) return message;
  const addedParts: ContentPart[] = [];
  if (custom.completed_control !== undefined) addedParts.push(toControlPart(custom.completed_control));
  for (const attachment of custom.attachments ?? []) addedParts.push(toPart(attachment, message.role));
  if (addedParts.length === 0) return plain;
  const parts = [...toParts(plain.content), ...addedParts];
  return { ...plain, content: parts.every(isTextPart) ? parts.map(({ text }) => text).join('\n\n') : parts };
}

function toParts(content: Message['content']): readonly ContentPart[] {
  if (typeof content !== 'string') return content ?? [];
  return content === '' ? [] : [toTextPart(content)];
}

function toControlPart({ label, value }: CompletedControl): ContentPart {
  return toTextPart(value === undefined ? label : `${label}: ${JSON.stringify(value)}`);
}

/** Images and files are valid only in user messages. */
function toPart(attachment: Attachment, role: Message['role']): ContentPart {
  const { type = 'text/markdown', data, url } = attachment;
  if (role === 'user' && isReachable(attachment) && /^image\//i.test(type)) {
    return { type: 'image_url', image_url: { url: url ?? `data:${type};base64,${data}` } };
  }
  if (role === 'user' && data !== undefined && /^application\/pdf(;|$)/i.test(type)) {
    return {
      type: 'file',
      file: { filename: attachment.title ?? 'document.pdf', file_data: `data:application/pdf;base64,${data}` },
    };
  }
  return toTextPart(toDescription(attachment, type));
}

/** Returns whether the upstream can access the content. URLs of stored files work only within this service. */
function isReachable({ data, url }: Attachment): boolean {
  return data !== undefined || /^(https?|data):/i.test(url ?? '');
}

function toDescription({ title, data, url }: Attachment, type: string): string {
  const name = title === undefined ? `Attachment (${type})` : `Attachment "${title}" (${type})`;
  if (data === undefined) return `${name}: ${url}`;
  return readableTypes.test(type) ? `${name}:\n${data}` : name;
}

type TextPart = ContentPart & { readonly type: 'text'; readonly text: string };

export function toTextPart(text: string): TextPart {
  return { type: 'text', text };
}

export function isTextPart(part: ContentPart): part is TextPart {
  return part.type === 'text' && typeof part.text === 'string';
}

/** Returns the texts of the parts as one string. */
export function toText(parts: readonly ContentPart[], separator: string): string {
  return parts
    .filter(isTextPart)
    .map(({ text }) => text)
    .join(separator);
}

/** Returns a string if all parts are text without `cache_control`, otherwise the parts. */
export function toContent(parts: readonly ContentPart[], separator: string): string | ContentPart[] {
  const areAllPlain = parts.every((part) => isTextPart(part) && part.cache_control === undefined);
  return areAllPlain ? toText(parts, separator) : [...parts];
}
