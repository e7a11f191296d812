import { isJsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Control, ResponseAttachment } from '#contract/chat/chunk.ts';
import type { Answer, Responder, Situation, Step } from './answer.ts';
import { answerFromResults, callFittingTools, callRequiredTool } from './answer-by-tool.ts';
import { quotePassages } from './compare.ts';
import { fillArguments } from './fill-arguments.ts';
import type { Passage } from './read-request.ts';
import { shorten } from './words.ts';

const introduction =
  'I am Parley’s demo, not a language model: I follow simple rules and compare meanings with a small local model.';
const tour = `${introduction} I send nothing to anyone.

Things to try:

- **Show me everything**: stages, an attachment, and controls in one reply. You can also request only one of them.
- **Count to 100**: a long stream that you can watch or stop.
- **Ask about a text**: attach one, or paste it between \`"""\`, and I quote the sentences nearest to your question.
- **Ask \`sample\`** where it is listed: an application over documents, a web API and an MCP server, for which I am the model.
- **Ask with tools**: send \`tools\` such as \`get_weather\` through the API and ask *What is the weather in Paris?* I call the one that fits.

I support \`max_tokens\`, \`stop\`, and \`response_format\`, and the token counts are real.`;

// Pattern bound: `splitQuestion` limits a question to 600 characters.
const greeting =
  /^\W*(hello|hi|hey|good (morning|afternoon|evening|day)|hallo|hola|bonjour|ciao|greetings)(\W+[\p{L}’']+){0,2}\W*$/iu;
// Pattern bound: `splitQuestion` limits a question to 600 characters.
const thanksPattern = /^\W*((thanks|thank you|thx)(\W+[\p{L}’']+){0,4}|(very )?(great|nice|cool)|(good)?bye)\W*$/iu;
const tourPattern =
  /^\W*((say|please|show) )?(help( me)?|start|tour|menu)( please)?\W*$|\bwhat can (you|i) (do|try)\b|\b(who|what) are you\b|\bhow (do|can) i use (you|this)\b|\bwhat is parley\b/i;
const countPattern = /\bcount\b.{0,20}?\bto (\d{1,6})\b/i;
const maxCount = 1000;

/** Answers greetings, thanks, and requests for help. */
function answerSmallTalk({ conversation }: Situation): Answer | undefined {
  const { question } = conversation;
  if (greeting.test(question)) return { content: `Hello! ${tour}` };
  if (thanksPattern.test(question)) return { content: 'You are welcome. Say *help* for more things to try.' };
  return question === '' || tourPattern.test(question) ? { content: tour } : undefined;
}

/** Counts to a number, so that users can try streams of any length. */
function answerCount({ conversation }: Situation): Answer | undefined {
  const [, limit] = conversation.question.match(countPattern) ?? [];
  if (limit === undefined) return undefined;
  const numbers = Array.from({ length: Math.min(Number(limit), maxCount) }, (_, index) => index + 1);
  return { content: numbers.join(' ') || '0' };
}

/** Reports that the demo has no answer, and why. */
function answerUnknown({ conversation, offer }: Situation): Answer {
  const { question, passages, attachments } = conversation;
  const reasons = [
    offer.tools.length > 0 && offer.choice !== 'none' ? 'no offered tool fits' : '',
    passages.length > 0 ? 'no text in this conversation is close to it' : '',
    attachments.length > 0 && passages.length === 0 ? 'the attachments are not text I can read' : '',
  ].filter((line) => line !== '');
  const explanation = reasons.length > 0 ? ` I looked: ${reasons.join(', and ')}.` : '';
  // Pattern bound: `shorten` returns at most 200 characters.
  const shortQuestion = shorten(question, 200).replace(/[\s.]+$/, '');
  return {
    content: `${introduction} I cannot answer “${shortQuestion}”.${explanation} Say *help* for a list of my features.`,
  };
}

const maxPreviewChars = 300;
const maxAttached = 20;

/**
 * Quotes the attachments of the question before a tool is picked, because a user who attaches a text asks about it. Without tools,
 * `quoteDocuments` quotes them after the other responders.
 */
async function quoteAttached(situation: Situation): Promise<Answer | undefined> {
  const { conversation, offer } = situation;
  return offer.tools.length === 0 ? undefined : quote(conversation.attachedPassages.slice(0, maxAttached), situation);
}

/** Quotes the passages of the conversation's documents that are nearest to the question. */
function quoteDocuments(situation: Situation): Promise<Answer | undefined> {
  return quote(situation.conversation.passages, situation);
}

async function quote(
  passages: readonly Passage[],
  { conversation: { question }, compareDeps, steps }: Situation,
): Promise<Answer | undefined> {
  const [latest] = passages;
  if (latest === undefined) return undefined;
  const isSummary = question === '' || /\b(summar|what is (this|it|in)|read (this|it)|overview)/i.test(question);
  const quotes = question === '' ? [] : await quotePassages(question, passages, compareDeps);
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
    content: `I cannot sum up, but I can read. This is how ${latest.source} begins:\n\n> ${shorten(latest.text.trim().replace(/\s+/g, ' '), maxPreviewChars)}`,
  };
}

/** Responders in order. The first that returns an answer is used. */
const responders: readonly Responder[] = [
  callRequiredTool,
  answerFromResults,
  answerControl,
  answerSmallTalk,
  quoteAttached,
  callFittingTools,
  showParts,
  answerCount,
  quoteDocuments,
];

/** Returns the answer of the first responder that applies. Rejects with the error of the embedder, or with `UpstreamError`. */
export async function planAnswer(situation: Situation): Promise<Answer> {
  for (const respond of responders) {
    const result = await respond(situation);
    if (result !== undefined) return result;
  }
  return answerUnknown(situation);
}

/** Returns the content in the form of `response_format`: unchanged, as a JSON object, or as an object of the given schema. */
export function applyResponseFormat(content: string, request: ChatRequest, question: string): string {
  const { response_format: format } = request;
  if (!isJsonObject(format) || content === '') return content;
  if (format.type === 'json_object') return JSON.stringify({ answer: content });
  if (format.type !== 'json_schema' || !isJsonObject(format.json_schema)) return content;
  const { schema } = format.json_schema;
  return JSON.stringify(isJsonObject(schema) ? fillArguments(schema, question) : { answer: content });
}

const partPatterns = {
  // Pattern bound: `splitQuestion` limits a question to 600 characters.
  everything: /\b(show|give|demo\w*|try)\b.*\b(everything|all (you can|of it))\b|^everything\b/i,
  attachment: /\battachments?\b/i,
  stages: /\bstages?\b/i,
  controls: /\b(controls?|buttons?|forms?)\b/i,
};
const requestPattern =
  // Pattern bound: `splitQuestion` limits a question to 600 characters.
  /\b(show|give|send|offer|want|need|add|attach|with|see|demo\w*|please|try|make)\b|^\W*(an? |some |the )?(attachments?|stages?|controls?)\W*$/i;

/** Shows the parts of a reply that the user asks for: stages, an attachment, controls, or all of them. */
function showParts(situation: Situation): Answer | undefined {
  const { question } = situation.conversation;
  const isAll = partPatterns.everything.test(question);
  const isRequested = isAll || requestPattern.test(question);
  const includesPart = (part: keyof typeof partPatterns): boolean => isRequested && (isAll || partPatterns[part].test(question));
  const lines: string[] = [];
  if (includesPart('stages')) {
    situation.steps.push(...exampleSteps);
    lines.push('**Stages**: one that went well and carries an attachment, and one that failed on purpose.');
  }
  if (includesPart('attachment')) lines.push('**An attachment**: a table about your request.');
  if (includesPart('controls'))
    lines.push('**Controls**: pick a color or rate me. I receive your choice as a `completed_control`.');
  if (lines.length === 0) return undefined;
  return {
    content: `Here you are:\n\n${lines.map((line) => `- ${line}`).join('\n')}`,
    attachments: includesPart('attachment') ? [createRequestTable(situation)] : [],
    controls: includesPart('controls') ? exampleControls : [],
  };
}

/** Reports the value of a completed control. */
function answerControl({ conversation, steps }: Situation): Answer | undefined {
  const { completedControl: control, question } = conversation;
  if (control === undefined) return undefined;
  steps.push({ name: 'Reading the control', content: `\`${shorten(control.label, 100)}\` was filled in.`, status: 'completed' });
  const value = control.value === undefined ? '' : ` with the value \`${shorten(JSON.stringify(control.value), 1000)}\``;
  const remark = question === '' ? '' : ` You also wrote “${shorten(question, 200)}”.`;
  return { content: `You used the control **${shorten(control.label, 200)}**${value}.${remark}` };
}

const exampleSteps: readonly Step[] = [
  {
    name: 'A stage with an attachment',
    content: 'Stages show intermediate work as it happens.',
    status: 'completed',
    attachments: [{ index: 0, type: 'text/markdown', title: 'A note', data: 'A stage can have its own *attachments*.' }],
  },
  { name: 'A stage that fails on purpose', content: 'A failed step does not end the reply.', status: 'failed' },
];

const exampleControls: readonly Control[] = [
  {
    index: 0,
    label: 'Pick a color',
    schema: {
      type: 'object',
      properties: { color: { type: 'string', enum: ['red', 'green', 'blue'] } },
      required: ['color'],
      additionalProperties: false,
    },
  },
  {
    index: 1,
    label: 'Rate this answer',
    schema: {
      type: 'object',
      properties: { stars: { type: 'integer', minimum: 1, maximum: 5 }, remark: { type: 'string', maxLength: 200 } },
      required: ['stars'],
      additionalProperties: false,
    },
  },
];

function createRequestTable({ conversation, offer }: Situation): ResponseAttachment {
  const { question, passages, attachments, toolResults } = conversation;
  const rows = [
    ['Question', question],
    ['Tools offered', offer.tools.map(({ name }) => name).join(', ') || 'none'],
    ['Tool results', String(toolResults.length)],
    ['Your attachments', attachments.map(({ title, type }) => title || type || 'text/markdown').join(', ') || 'none'],
    ['Passages to read', `${passages.length}, ${passages.reduce((sum, { text }) => sum + text.length, 0)} characters`],
  ];
  const lines = rows.map(([label, value]) => `| ${label} | ${toCell(value ?? '')} |`);
  return {
    index: 0,
    type: 'text/markdown',
    title: 'What I saw',
    data: ['| What | Seen |', '| --- | --- |', ...lines].join('\n'),
  };
}

function toCell(text: string): string {
  return shorten(text, 200).replace(/\|/g, '\\|').replace(/\s+/g, ' ');
}
