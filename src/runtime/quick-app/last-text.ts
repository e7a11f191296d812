import type { Message } from '#contract/message.ts';
import { asParagraph } from '../as-paragraph.ts';

/**
 * What the last turn of a reply said. The reply has the text of all its turns, and the messages that its run added have that
 * of the earlier ones: given both, the model would read it twice. A text that its caller changed stays whole.
 */
export function lastText(reply: string, added: readonly Message[]): string {
  const texts = added.flatMap(({ role, content }) => (role === 'assistant' && typeof content === 'string' ? [content] : []));
  // A reply that goes on after a stop begins with a later turn.
  for (let first = 0; first < texts.length; first += 1) {
    const before = texts.slice(first).reduce((all, text) => (text === '' ? all : all + asParagraph(all, text)), '');
    if (before === '') break;
    if (!reply.startsWith(before)) continue;
    const rest = reply.slice(before.length);
    if (rest === '' || asParagraph(before, '') === '' || rest.startsWith('\n\n'))
      return rest.slice(asParagraph(before, '').length);
  }
  return reply;
}
