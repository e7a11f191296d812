import type { JsonObject } from '#base/json.ts';
import { type Conversation, type Reply, withTurn } from '../conversation/conversation.ts';
import { type Said, toTurns } from '../transfer/imported.ts';
import type { ShownAnswer } from './background-answers.ts';
import { textOf } from './fold-answer.ts';

interface Answered {
  readonly answer: ShownAnswer;
  readonly reply: Reply;
  /** Items it was asked with, the earliest first. */
  readonly input: readonly JsonObject[];
}

/** A conversation of what was said before an answer, and the answer; what one side says in a row is one turn. */
export function toConversation({ answer: { model, instructions }, reply, input }: Answered): Conversation {
  const atMs = Date.now();
  const empty: Conversation = {
    ...{ id: crypto.randomUUID(), title: '', deployment: model, createdAtMs: atMs, updatedAtMs: atMs, turns: {}, shown: {} },
    ...(typeof instructions === 'string' && instructions !== '' && { settings: { instructions } }),
  };
  const turns = Object.values(toTurns(toSaid(input, model), atMs));
  const last = { ...reply, parent: turns.at(-1)?.id ?? '', atMs: atMs + turns.length };
  return [...turns, last].reduce(withTurn, empty);
}

/** What users and models said, one behind the other: from the first question to one that is answered. */
function toSaid(input: readonly JsonObject[], model: string): ReadonlyMap<string, Said> {
  const all = input.filter(({ type = 'message', role }) => type === 'message' && (role === 'user' || role === 'assistant'));
  const first = all.findIndex(({ role }) => role === 'user');
  const messages = first < 0 ? [] : all.slice(first);
  const isAsked = messages.at(-1)?.role === 'user';
  const chain = new Map<string, Said>();
  let parent = '';
  for (const message of isAsked ? messages : [...messages, { role: 'user', content: '…' }]) {
    const id = crypto.randomUUID();
    const kind = message.role === 'user' ? 'question' : 'reply';
    chain.set(id, { id, parent, kind, text: textOf(message), atMs: undefined, model });
    parent = id;
  }
  return chain;
}
