import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import type { Answer, PlannedCall, Situation, Step } from './answer.ts';
import { fillArguments } from './fill-arguments.ts';
import { fittingTool, leastScore, scoreTools, splitClauses, type ToolScore } from './pick-tool.ts';
import { type Quote, quotePassages } from './quote-passages.ts';
import type { Passage, ToolResult } from './read-conversation.ts';
import type { OfferedTool } from './read-tools.ts';
import { shorten } from './words.ts';

const shortResult = 600;
const mostResults = 20;
const mostListed = 5;

/** Calls the tool that the request demands. Throws UpstreamFault if it demands one that is not offered. */
export async function callDemandedTool({ conversation, offer, comparing, steps }: Situation): Promise<Answer | undefined> {
  const { choice, tools } = offer;
  if (choice === 'none' || choice === 'auto' || tools.length === 0) return undefined;
  const { question } = conversation;
  if (choice === 'required') {
    const scores = await scoreTools(question, tools, comparing);
    steps.push(lookingStep(scores, scores[0]?.tool));
    return scores[0] && toAnswer([toCall(scores[0].tool, question)]);
  }
  const demanded = tools.find(({ name }) => name === choice.name);
  if (demanded === undefined) {
    throw new UpstreamFault(
      'refused',
      `tool_choice names ${shorten(choice.name, 64)}, which is not among the tools of the request.`,
      {
        status: 400,
        param: 'tool_choice',
      },
    );
  }
  steps.push({ name: 'Looking for a fitting tool', content: `The request demands \`${demanded.name}\`.`, status: 'completed' });
  return toAnswer([toCall(demanded, question)]);
}

/** Calls the tools that fit the question, one for each part of it. */
export async function callFittingTools({ conversation, offer, comparing, steps }: Situation): Promise<Answer | undefined> {
  const { question } = conversation;
  if (offer.choice === 'none' || offer.tools.length === 0 || question === '') return undefined;
  const parts = offer.isParallel ? splitClauses(question) : [question];
  const calls = await fittingCalls(parts, { conversation, offer, comparing, steps });
  if (calls.length === parts.length || parts.length === 1) return toAnswer(calls);
  return toAnswer(await fittingCalls([question], { conversation, offer, comparing, steps }));
}

/** Says what the tools said; of a long result, what is nearest to the question. */
export async function tellResults({ conversation, comparing, steps }: Situation): Promise<Answer | undefined> {
  const { toolResults, question } = conversation;
  if (toolResults.length === 0) return undefined;
  const texts: string[] = [];
  for (const result of toolResults.slice(0, mostResults)) texts.push(await toText(result, { question, comparing }));
  const names = toolResults.map(({ name }) => `\`${name}\``).slice(0, mostResults);
  steps.push({
    name: 'Reading the results',
    content: `${toolResults.length} of ${[...new Set(names)].join(', ')}.`,
    status: 'completed',
  });
  return { content: texts.join('\n\n') };
}

async function toText(
  { name, text }: ToolResult,
  { question, comparing }: { question: string; comparing: Situation['comparing'] },
): Promise<string> {
  const result = text.trim();
  if (result === '') return `${name} says nothing.`;
  if (result.length <= shortResult) return `${name} says: ${inWords(result)}`;
  const passages = numberedPassages(result);
  const quotes = question === '' ? [] : await quotePassages(question, passages, comparing);
  if (quotes.length === 0 && passages.length > 1)
    return `${name} gives ${passages.length} passages; none comes near your question.`;
  if (quotes.length === 0) return `${name} says (the beginning of ${result.length} characters): ${shorten(result, shortResult)}`;
  return `${name} says, nearest to your question:\n\n${quotes.map(toLine).join('\n>\n')}`;
}

/** With the number that the passage is cited by, if it has one. */
function toLine({ sentence, source }: Quote): string {
  return source === '' ? `> ${sentence}` : `> ${sentence} ${source}`;
}

async function fittingCalls(parts: readonly string[], { offer, comparing, steps }: Situation): Promise<PlannedCall[]> {
  const calls: PlannedCall[] = [];
  for (const part of parts) {
    const scores = await scoreTools(part, offer.tools, comparing);
    const tool = fittingTool(part, scores);
    steps.push(lookingStep(scores, tool));
    if (tool !== undefined) calls.push(toCall(tool, part));
  }
  return calls;
}

function toCall(tool: OfferedTool, question: string): PlannedCall {
  return { name: tool.name, arguments: JSON.stringify(fillArguments(tool.parameters, question)) };
}

function toAnswer(calls: readonly PlannedCall[]): Answer | undefined {
  return calls.length === 0 ? undefined : { content: '', calls };
}

function lookingStep(scores: readonly ToolScore[], chosen: OfferedTool | undefined): Step {
  const listed = scores.slice(0, mostListed).map(({ tool, score }) => `- \`${tool.name}\`: ${score.toFixed(2)}`);
  const verdict = chosen === undefined ? `None comes up to ${leastScore}.` : `\`${chosen.name}\` it is.`;
  return { name: 'Looking for a fitting tool', content: `${listed.join('\n')}\n\n${verdict}`, status: 'completed' };
}

const mark = /^(\[\d{1,4}\]) /m;
/** What stands above the passages of one section: the file, its page, the headings. */
const head = /^[^\n]{1,255}\.[a-z]{2,5}(?:, (?:page|slide|sheet) \d+)?(?: — [^\n]*)?(?:\n|$)/;

/** The passages of a result that begin with a number such as [1], each with it as source; else the result as one, without. */
function numberedPassages(result: string): Passage[] {
  const [, ...parts] = result.split(mark);
  if (parts.length === 0) return [{ source: '', text: result }];
  const passages: Passage[] = [];
  for (let at = 0; at < parts.length; at += 2)
    passages.push({ source: parts[at] ?? '', text: (parts[at + 1] ?? '').replace(head, '') });
  return passages;
}

/** An object of plain values as words; any other text as it is. */
function inWords(result: string): string {
  const value = result.startsWith('{') ? tryParseJson(result) : undefined;
  if (!isJsonObject(value) || Object.keys(value).length === 0) return result;
  const entries = Object.entries(value);
  if (entries.some(([, each]) => typeof each === 'object')) return result;
  return `${entries.map(([name, each]) => `${name.replaceAll('_', ' ')} ${each}`).join(', ')}.`;
}
