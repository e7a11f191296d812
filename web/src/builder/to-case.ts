import { isJsonObject, type JsonObject, tryParseJson } from '#base/json.ts';
import type { Conversation, Turn } from '../conversation/conversation.ts';
import { shownTurns } from '../conversation/conversation.ts';
import { toMessages } from '../conversation/to-messages.ts';
import { isToolRun, readTrace } from './read-trace.ts';

/** The last answer of a conversation as a case: what was asked, and that the same tools are called. Undefined as long as there is none. */
export function toEvaluationCase(conversation: Conversation): JsonObject | undefined {
  const turns = shownTurns(conversation);
  const last = turns.at(-1);
  if (last?.kind !== 'reply' || last.state !== 'done') return undefined;
  const messages = toMessages(turns.slice(0, -1)).map(withoutState);
  const [first] = messages;
  const isPlain = messages.length === 1 && typeof first?.content === 'string' && first.custom_content === undefined;
  return { input: isPlain ? first?.content : messages, checks: toolChecks(last) };
}

/** What earlier runs remember holds for one version, and grows old. */
function withoutState(message: object): JsonObject {
  const { custom_content: custom, ...rest } = message as JsonObject;
  if (!isJsonObject(custom)) return rest;
  const { attachments } = custom;
  return attachments === undefined ? rest : { ...rest, custom_content: { attachments } };
}

function toolChecks(reply: Extract<Turn, { kind: 'reply' }>): readonly JsonObject[] {
  const ran = readTrace(reply.custom).filter(isToolRun);
  const calls = ran.map(({ name, sent }) => toCheck(name, sent));
  const { name, arguments: sent = '' } = reply.functionCall ?? {};
  return name === undefined ? calls : [...calls, toCheck(name, sent)];
}

function toCheck(tool: string, sent: string): JsonObject {
  const args = tryParseJson(sent);
  return { type: 'calls', tool, ...(isJsonObject(args) && Object.keys(args).length > 0 && { arguments: args }) };
}
