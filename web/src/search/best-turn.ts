import { bestOf } from '#base/excerpt.ts';
import type { Conversation, Turn } from '../conversation/conversation.ts';
import { shownTurns } from '../conversation/conversation.ts';

/** The first turn in which as many of the words stand as in any: one that is shown, if it has as many. Undefined for none. */
export function bestTurn(conversation: Conversation, words: readonly string[]): Turn | undefined {
  const shown = shownTurns(conversation);
  const ids = new Set(shown.map(({ id }) => id));
  const turns = [...shown, ...Object.values(conversation.turns).filter(({ id }) => !ids.has(id))];
  return turns[
    bestOf(
      turns.map(({ text }) => text),
      words,
    )
  ];
}
