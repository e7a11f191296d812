import { isAcceptedType } from '#base/http/media-type.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Frame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { Attachment } from '#domain/tools/tool.ts';

/** The media that a model accepts. */
export interface AcceptedMedia {
  /** Accepted MIME types, such as `image/*`. */
  readonly types: readonly string[];
  /** Maximum number per message. */
  readonly maxCount: number;
}

/** Attachments that a tool returned. */
export interface ToolMedia {
  readonly tool: string;
  readonly attachments: readonly Attachment[];
}

const maxPerMessage = 8;
/** Maximum number of base64 characters per item. 3 MiB of data, the maximum of vendors. */
const maxChars = 4 * 1024 * 1024;
const maxCharsPerRun = 16 * 1024 * 1024;
const maxTitleChars = 80;
const opening = 'Shown by tools, not said by the user:';
const base64Pattern = /^[A-Za-z0-9+/]+={0,2}$/;
/**
 * File signatures by MIME type. They replace the type that a server declares, because vendors reject the entire request if one
 * type is wrong.
 */
const signatures: readonly (readonly [type: string, signature: RegExp])[] = [
  ['image/png', /^\x89PNG/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
  ['application/pdf', /^%PDF-/],
];

/** Returns the media that a deployment accepts according to its settings, or undefined if it only accepts text. */
export function getAcceptedMedia(model: Deployment | undefined): AcceptedMedia | undefined {
  const { inputAttachmentTypes: types = [], maxInputAttachments = maxPerMessage } = model ?? {};
  const maxCount = Math.min(maxInputAttachments, maxPerMessage);
  return types.length === 0 || maxCount === 0 ? undefined : { types, maxCount };
}

/**
 * Returns a message that shows the media of tools to a model, or an empty list if it accepts no item. Only user messages can
 * contain images in every dialect, so a user message follows the results. `added` contains the messages that the run already
 * added.
 */
export function toMediaMessages(media: readonly ToolMedia[], accepted: AcceptedMedia, added: readonly Message[]): Message[] {
  let remainingChars = maxCharsPerRun - added.filter(isMediaMessage).reduce((sum, message) => sum + countChars(message), 0);
  const items: { readonly line: string; readonly attachment: Attachment }[] = [];
  const candidates = media.flatMap(({ tool, attachments }) => attachments.map((attachment) => ({ tool, attachment })));
  for (const { tool, attachment } of candidates) {
    const { data = '', title = 'Attachment' } = attachment;
    const type = data.length <= Math.min(remainingChars, maxChars) ? detectType(data) : undefined;
    if (type === undefined || !isAcceptedType(type, accepted.types) || items.length === accepted.maxCount) continue;
    remainingChars -= data.length;
    const line = `${items.length + 1}. ${title.slice(0, maxTitleChars).toWellFormed().replace(/\s+/g, ' ')} (${type}), by ${tool}`;
    items.push({ line, attachment: { type, title, data } });
  }
  if (items.length === 0) return [];
  const content = [opening, ...items.map(({ line }) => line)].join('\n');
  return [
    { role: 'user', content, custom_content: { attachments: items.map(({ attachment }, index) => ({ index, ...attachment })) } },
  ];
}

/** Returns whether a message was created by `toMediaMessages`. */
export function isMediaMessage({ role, content, custom_content: custom }: Message): boolean {
  return role === 'user' && custom?.attachments !== undefined && typeof content === 'string' && content.startsWith(opening);
}

/**
 * Sends a request to a model. If the model rejects a request with media of tools, calls `dropMedia` and retries without them.
 */
export async function* sendWithMedia(
  sendRequest: (request: ChatRequest) => AsyncIterable<Frame>,
  request: ChatRequest,
  dropMedia: () => void,
): AsyncIterable<Frame> {
  const messages = request.messages.filter((message) => !isMediaMessage(message));
  if (messages.length === request.messages.length) return yield* sendRequest(request);
  let hasStarted = false;
  try {
    for await (const frame of sendRequest(request)) {
      hasStarted = true;
      yield frame;
    }
    return;
  } catch (error) {
    if (hasStarted || !isRejection(error)) throw error;
  }
  dropMedia();
  yield* sendRequest({ ...request, messages });
}

function isRejection(error: unknown): boolean {
  return error instanceof ParleyError && (error.status === 400 || error.status === 413);
}

function countChars({ custom_content: custom }: Message): number {
  return (custom?.attachments ?? []).reduce((sum, { data = '' }) => sum + data.length, 0);
}

function detectType(data: string): string | undefined {
  if (data.length % 4 !== 0 || !base64Pattern.test(data)) return undefined;
  const header = Buffer.from(data.slice(0, 24), 'base64').toString('latin1');
  return signatures.find(([, signature]) => signature.test(header))?.[0];
}
