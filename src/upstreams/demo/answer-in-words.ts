import type { Answer, Situation } from './answer.ts';
import { shorten } from './words.ts';

const who =
  'I am Parley’s demo deployment, not a language model: I follow simple rules and compare meanings with a small local model.';
const tour = `${who} I send nothing to anyone.

Things to try:

- **Show me everything**: stages, an attachment and controls in one reply; or ask for one of them alone.
- **Count to 100**: a long stream, to watch it or to stop it.
- **Ask about a text**: attach one, or paste it between \`"""\`, and I quote the sentences nearest to your question.
- **Ask \`sample\`** where it is listed: an application over documents, a web API and an MCP server, for which I am the model.
- **Ask with tools**: send \`tools\` such as \`get_weather\` through the API and ask *What is the weather in Paris?* I call the one that fits.

\`max_tokens\`, \`stop\` and \`response_format\` are honoured, and the token counts are real.`;

// Pattern bound: a question of at most 600 characters, which splitQuestion cuts.
const greeting =
  /^\W*(hello|hi|hey|good (morning|afternoon|evening|day)|hallo|hola|bonjour|ciao|greetings)(\W+[\p{L}’']+){0,2}\W*$/iu;
// Pattern bound: a question of at most 600 characters, which splitQuestion cuts.
const thanks = /^\W*((thanks|thank you|thx)(\W+[\p{L}’']+){0,4}|(very )?(great|nice|cool)|(good)?bye)\W*$/iu;
const asksForTour =
  /^\W*((say|please|show) )?(help( me)?|start|tour|menu)( please)?\W*$|\bwhat can (you|i) (do|try)\b|\b(who|what) are you\b|\bhow (do|can) i use (you|this)\b|\bwhat is parley\b/i;
const counting = /\bcount\b.{0,20}?\bto (\d{1,6})\b/i;
const mostCounted = 1000;

/** Greets, thanks, shows around. */
export function makeSmallTalk({ conversation }: Situation): Answer | undefined {
  const { question } = conversation;
  if (greeting.test(question)) return { content: `Hello! ${tour}` };
  if (thanks.test(question)) return { content: 'You are welcome. Say *help* to see what else there is to try.' };
  return question === '' || asksForTour.test(question) ? { content: tour } : undefined;
}

/** Counts, to give a stream of any length. */
export function count({ conversation }: Situation): Answer | undefined {
  const [, given] = conversation.question.match(counting) ?? [];
  if (given === undefined) return undefined;
  const numbers = Array.from({ length: Math.min(Number(given), mostCounted) }, (_, index) => index + 1);
  return { content: numbers.join(' ') || '0' };
}

/** Says openly that it has no answer. */
export function admit({ conversation, offer }: Situation): Answer {
  const { question, passages, attachments } = conversation;
  const looked = [
    offer.tools.length > 0 && offer.choice !== 'none' ? 'none of the tools offered fits' : '',
    passages.length > 0 ? 'nothing in the texts given comes near it' : '',
    attachments.length > 0 && passages.length === 0 ? 'the attachments are not text I can read' : '',
  ].filter((line) => line !== '');
  const because = looked.length > 0 ? ` I looked: ${looked.join(', and ')}.` : '';
  // Pattern bound: 200 characters, which shorten cuts.
  const asked = shorten(question, 200).replace(/[\s.]+$/, '');
  return {
    content: `${who} So I have no answer of my own to “${asked}”.${because} Say *help* to see what I can do.`,
  };
}
