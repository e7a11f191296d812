import type { Answer, Situation } from './answer.ts';
import { quotePassages } from './quote-passages.ts';
import type { Passage } from './read-conversation.ts';
import { shorten } from './words.ts';

const beginning = 300;
const mostAttached = 20;

/** Quotes what was attached to the question, before a tool is looked for: who attaches something asks about that. */
export async function quoteAttached(situation: Situation): Promise<Answer | undefined> {
  const { conversation, offer } = situation;
  return offer.tools.length === 0 ? undefined : quote(conversation.attached.slice(0, mostAttached), situation);
}

/** Quotes what the conversation's documents say nearest to the question. */
export function quoteDocuments(situation: Situation): Promise<Answer | undefined> {
  return quote(situation.conversation.passages, situation);
}

async function quote(
  passages: readonly Passage[],
  { conversation: { question }, comparing, steps }: Situation,
): Promise<Answer | undefined> {
  const [latest] = passages;
  if (latest === undefined) return undefined;
  const isSummary = question === '' || /\b(summar|what is (this|it|in)|read (this|it)|overview)/i.test(question);
  const quotes = question === '' ? [] : await quotePassages(question, passages, comparing);
  const length = passages.reduce((sum, { text }) => sum + text.length, 0);
  steps.push({
    name: 'Searching the passages',
    content: `${quotes.length} fitting sentences in ${passages.length} passages of ${length} characters.`,
    status: 'completed',
  });
  if (quotes.length > 0) {
    const lines = quotes.map(({ sentence, source }) => `> ${sentence}\n>\n> — ${source}`);
    return { content: `Nearest to your question I find:\n\n${lines.join('\n\n')}` };
  }
  if (!isSummary) return undefined;
  return {
    content: `I cannot sum up, but I can read. This is how ${latest.source} begins:\n\n> ${shorten(latest.text.trim().replace(/\s+/g, ' '), beginning)}`,
  };
}
