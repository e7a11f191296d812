import type { JsonObject } from '#base/json.ts';
import { type Conversation, type Question, type Reply, type Turn, withTurn } from '../conversation/conversation.ts';
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
  const said = input.filter(({ type = 'message', role }) => type === 'message' && (role === 'user' || role === 'assistant'));
  const turns: Turn[] = [];
  for (const item of said) {
    const text = textOf(item);
    const last = turns.at(-1);
    const kind = item.role === 'user' ? 'question' : 'reply';
    if (last?.kind === kind) turns.splice(-1, 1, { ...last, text: `${last.text}\n\n${text}` });
    else if (last !== undefined || kind === 'question')
      turns.push(toTurn(kind, { text, model, atMs: atMs + turns.length, last }));
  }
  if (turns.at(-1)?.kind !== 'question')
    turns.push(toTurn('question', { text: '…', model, atMs: atMs + turns.length, last: turns.at(-1) }));
  turns.push({ ...reply, parent: turns.at(-1)?.id ?? '', atMs: atMs + turns.length });
  return turns.reduce(withTurn, empty);
}

interface Place {
  readonly text: string;
  readonly model: string;
  readonly atMs: number;
  readonly last: Turn | undefined;
}

function toTurn(kind: Turn['kind'], { text, model, atMs, last }: Place): Turn {
  const place = { id: crypto.randomUUID(), parent: last?.id ?? '', atMs, text };
  return kind === 'question'
    ? ({ kind, ...place, attachments: [] } satisfies Question)
    : ({ kind, ...place, deployment: model, state: 'done', custom: {}, stageTimes: {} } satisfies Reply);
}
