import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { type ContentPart, isToolOutput, type Message } from '#contract/chat/message.ts';
import { hasForeignApplication } from '../callers/call-chain.ts';
import type { Caller } from '../callers/caller.ts';
import type { NamedFiles } from '../callers/held-rights.ts';
import { parseReference, toReference } from './resource-location.ts';
import { canRead, isAssistantOnly } from './resource-rights.ts';

const maxNamedFiles = 1000;

/**
 * Returns references of the files that a caller forwards with a request: files that it names and may read itself, and files
 * that it inherited. A right keeps its origin. If the path includes an application of another user, only two sources count:
 * messages of the user, and applications that name what they may read themselves. Otherwise such an application could reference
 * any file of its next user in a reply.
 */
export function collectForwardedFiles(
  caller: Caller,
  { request, path }: { request: ChatRequest; path: readonly string[] },
): NamedFiles & { readonly files: ReadonlySet<string>; readonly assistantFiles: ReadonlySet<string> } {
  const forwardsAssistantFiles = !hasForeignApplication({ ...caller, chain: { path } });
  const files = new Set(caller.chain?.rights.files);
  const assistantFiles = new Set(forwardsAssistantFiles ? caller.chain?.rights.assistantFiles : []);
  for (const { text, isFromUser } of listAddresses(request.messages)) {
    if (files.size + assistantFiles.size >= maxNamedFiles) break;
    const location = isFromUser || forwardsAssistantFiles ? parseReference(text) : undefined;
    if (location === undefined || !canRead(caller, location)) continue;
    if (isFromUser && !isAssistantOnly(caller, location)) files.add(toReference(location));
    else if (forwardsAssistantFiles) assistantFiles.add(toReference(location));
  }
  return { files, assistantFiles };
}

interface Address {
  readonly text: string;
  /** Whether the user or the calling application wrote it, and not an assistant, a tool, or a developer. */
  readonly isFromUser: boolean;
}

/** Returns the addresses in a request, newest message first. */
function* listAddresses(messages: readonly Message[]): Iterable<Address> {
  for (let index = messages.length - 1; index >= 0; index -= 1) yield* listMessageAddresses(messages[index] as Message);
}

function* listMessageAddresses(message: Message): Iterable<Address> {
  const { role, custom_content: custom, content } = message;
  const isFromUser = role === 'user' && !isToolOutput(message);
  for (const { url, reference_url: reference } of custom?.attachments ?? []) {
    if (url !== undefined) yield { text: url, isFromUser };
    if (reference !== undefined) yield { text: reference, isFromUser };
  }
  if (!Array.isArray(content)) return;
  for (const part of content) for (const text of listTexts(part)) yield { text, isFromUser: isFromUser && !isToolOutput(part) };
}

/** Returns the texts in an `image_url`, `file`, or similar part, such as `{type: "file", file: {file_data}}`. */
function* listTexts(part: ContentPart): Iterable<string> {
  const pointer = part.type === 'text' || !Object.hasOwn(part, part.type) ? undefined : part[part.type];
  const texts = typeof pointer === 'object' && pointer !== null ? Object.values(pointer) : [pointer];
  for (const text of texts) if (typeof text === 'string') yield text;
}
