import { Compile } from 'typebox/compile';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { ChatPatch, chatFlags, chatHeadFields } from '#contract/chat-patch.ts';
import { requestFault, requireShape } from '#contract/request-fault.ts';
import { withoutNulls } from '#contract/without-nulls.ts';
import type { ChatChange, ChatHead, DeletedChat, StoredChat } from '#domain/chats/chat-store.ts';

const shape = Compile(ChatPatch);
const own = new Set(['id', 'revision', 'updatedAtMs', 'turns', ...Object.keys(chatFlags)]);
const mostRestChars = 1024 ** 2;

/** What a body changes; `nowMs` is when it changed if it does not say so, and the latest that it may say. Throws invalid_request. */
export function toChatChange(body: unknown, nowMs: number): ChatChange {
  const given = isJsonObject(body) ? withoutNulls(body, new Set(Object.keys(body))) : body;
  const { updatedAtMs = nowMs, pinned, archived, turns = [], ...others } = requireShape<ChatPatch>(shape as never, given);
  const fields: JsonObject = {};
  const rest: JsonObject = {};
  for (const [key, value] of Object.entries(others)) {
    if (!own.has(key)) (Object.hasOwn(chatHeadFields, key) ? fields : rest)[key] = value;
  }
  if (JSON.stringify(rest).length > mostRestChars) throw requestFault('body', 'has too much beside its turns');
  return {
    updatedAtMs: Math.min(updatedAtMs, nowMs),
    ...(pinned !== undefined && { pinned }),
    ...(archived !== undefined && { archived }),
    ...{ fields, rest, turns },
  };
}

/** What lists show of a chat. */
export function toShownHead(head: ChatHead | DeletedChat): JsonObject {
  if ('deleted' in head) return { ...head };
  const { fields, ...others } = head;
  return { ...fields, ...others };
}

export function toShownChat({ head, rest, turns }: StoredChat): JsonObject {
  return { ...rest, ...toShownHead(head), turns };
}
