import type { ChatRequest } from '#contract/chat-request.ts';
import type { ContentPart, Message } from '#contract/message.ts';
import type { Caller } from '../callers/caller.ts';
import { isLedByAnother } from '../callers/chain.ts';
import { fromReference, toReference } from './file-references.ts';
import { mayRead } from './resource-rights.ts';

const maxNamedFiles = 1000;

/**
 * References of the files a caller hands on with a request: those that it names and may read itself; through a per-request key also those
 * it was handed. On a path with an application that somebody else saved, what an assistant said does not count: that application
 * may have written it, and would hand itself what it likes.
 */
export function filesHandedOn(
  caller: Caller,
  { request, path }: { request: ChatRequest; path: readonly string[] },
): ReadonlySet<string> {
  const files = new Set(caller.chain?.rights.files);
  const said = isLedByAnother({ ...caller, chain: { path } })
    ? request.messages.filter(({ role }) => role !== 'assistant')
    : request.messages;
  for (const text of urlsOf(said)) {
    if (files.size >= maxNamedFiles) break;
    const place = fromReference(text);
    if (place !== undefined && mayRead(caller, place)) files.add(toReference(place));
  }
  return files;
}

/** Addresses in a request, those of the newest message first. */
function* urlsOf(messages: readonly Message[]): Iterable<string> {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const { custom_content: custom, content } = messages[index] as Message;
    for (const { url, reference_url: reference } of custom?.attachments ?? []) {
      if (url !== undefined) yield url;
      if (reference !== undefined) yield reference;
    }
    if (Array.isArray(content)) for (const part of content) yield* textsOf(part);
  }
}

/** What an `image_url`, `file` or like part points to: `{type: "file", file: {file_data}}`. */
function* textsOf(part: ContentPart): Iterable<string> {
  const pointer = part.type === 'text' || !Object.hasOwn(part, part.type) ? undefined : part[part.type];
  const texts = typeof pointer === 'object' && pointer !== null ? Object.values(pointer) : [pointer];
  for (const text of texts) if (typeof text === 'string') yield text;
}
