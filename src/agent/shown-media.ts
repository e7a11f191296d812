import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Frame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { isAcceptedType } from '#domain/files/is-accepted-type.ts';
import type { Attachment } from '#domain/tools/tool.ts';

/** What a model reads beside text. */
export interface AcceptedMedia {
  /** MIME types, such as `image/*`. */
  readonly types: readonly string[];
  /** In one message. */
  readonly most: number;
}

/** What a tool gave beside text. */
export interface ToolMedia {
  readonly tool: string;
  readonly attachments: readonly Attachment[];
}

const mostInMessage = 8;
/** In base64, 3 MiB: what vendors take. */
const mostCharsEach = 4 * 1024 * 1024;
const mostCharsInRun = 16 * 1024 * 1024;
const longestTitle = 80;
const opening = 'Shown by tools, not said by the user:';
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** By how they begin, whatever a server calls them: vendors refuse a whole request for one wrong name. */
const beginnings: readonly (readonly [type: string, beginning: RegExp])[] = [
  ['image/png', /^\x89PNG/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
  ['application/pdf', /^%PDF-/],
];

/** What the model can be shown, by what its deployment announces; undefined: text alone. */
export function acceptedMediaOf(model: Deployment | undefined): AcceptedMedia | undefined {
  const { inputAttachmentTypes: types = [], maxInputAttachments = mostInMessage } = model ?? {};
  const most = Math.min(maxInputAttachments, mostInMessage);
  return types.length === 0 || most === 0 ? undefined : { types, most };
}

/**
 * Shows a model what its tools gave it to see. Images have their place in the messages of users, in every dialect: that is
 * where they stand, behind the results. `before` is what the run added already. Gives nothing if nothing can be shown.
 */
export function toMediaMessages(given: readonly ToolMedia[], taken: AcceptedMedia, before: readonly Message[]): Message[] {
  let room = mostCharsInRun - before.filter(isMediaMessage).reduce((sum, message) => sum + charsOf(message), 0);
  const shown: { readonly line: string; readonly attachment: Attachment }[] = [];
  for (const { tool, attachment } of given.flatMap(({ tool, attachments }) =>
    attachments.map((each) => ({ tool, attachment: each })),
  )) {
    const { data = '', title = 'Attachment' } = attachment;
    const type = data.length <= Math.min(room, mostCharsEach) ? typeOf(data) : undefined;
    if (type === undefined || !isAcceptedType(type, taken.types) || shown.length === taken.most) continue;
    room -= data.length;
    const line = `${shown.length + 1}. ${title.slice(0, longestTitle).replace(/\s+/g, ' ')} (${type}), by ${tool}`;
    shown.push({ line, attachment: { type, title, data } });
  }
  if (shown.length === 0) return [];
  const content = [opening, ...shown.map(({ line }) => line)].join('\n');
  return [
    { role: 'user', content, custom_content: { attachments: shown.map(({ attachment }, index) => ({ index, ...attachment })) } },
  ];
}

export function isMediaMessage({ role, content, custom_content: custom }: Message): boolean {
  return role === 'user' && custom?.attachments !== undefined && typeof content === 'string' && content.startsWith(opening);
}

/** Asks a model; if it refuses a request in which tools show it something, `forget` is called, and it is asked once more without that. */
export async function* askShowing(
  ask: (request: ChatRequest) => AsyncIterable<Frame>,
  request: ChatRequest,
  forget: () => void,
): AsyncIterable<Frame> {
  const messages = request.messages.filter((message) => !isMediaMessage(message));
  if (messages.length === request.messages.length) return yield* ask(request);
  let hasBegun = false;
  try {
    for await (const frame of ask(request)) {
      hasBegun = true;
      yield frame;
    }
    return;
  } catch (thrown) {
    if (hasBegun || !isRefused(thrown)) throw thrown;
  }
  forget();
  yield* ask({ ...request, messages });
}

function isRefused(thrown: unknown): boolean {
  return thrown instanceof ParleyError && (thrown.status === 400 || thrown.status === 413);
}

function charsOf({ custom_content: custom }: Message): number {
  return (custom?.attachments ?? []).reduce((sum, { data = '' }) => sum + data.length, 0);
}

function typeOf(data: string): string | undefined {
  if (data.length % 4 !== 0 || !base64.test(data)) return undefined;
  const begun = Buffer.from(data.slice(0, 24), 'base64').toString('latin1');
  return beginnings.find(([, beginning]) => beginning.test(begun))?.[0];
}
