import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import type { Answer, PlannedCall, Situation, Step } from './answer.ts';
import { type CompareDeps, compare, type Quote, quotePassages } from './compare.ts';
import { fillArguments, needsGuess } from './fill-arguments.ts';
import type { OfferedTool, Passage, ToolResult } from './read-request.ts';
import { countShared, countWords, listStems, shorten } from './words.ts';

/** Results up to this length are quoted completely. */
const maxQuotedChars = 600;
const maxResults = 20;
const maxListed = 5;

/** Calls the tool that the request requires. Throws `UpstreamError` if that tool is not offered. */
export async function callRequiredTool({ conversation, offer, compareDeps, steps }: Situation): Promise<Answer | undefined> {
  const { choice, tools } = offer;
  if (choice === 'none' || choice === 'auto' || tools.length === 0) return undefined;
  const { question } = conversation;
  if (choice === 'required') {
    const scores = await scoreTools(question, tools, compareDeps);
    steps.push(createLookupStep(scores, scores[0]?.tool));
    return scores[0] && toAnswer([toCall(scores[0].tool, question)]);
  }
  const requiredTool = tools.find(({ name }) => name === choice.name);
  if (requiredTool === undefined) {
    const message = `tool_choice names ${shorten(choice.name, 64)}, which is not among the tools of the request.`;
    throw new UpstreamError('refused', message, { status: 400, param: 'tool_choice' });
  }
  steps.push({
    name: 'Looking for a fitting tool',
    content: `The request demands \`${requiredTool.name}\`.`,
    status: 'completed',
  });
  return toAnswer([toCall(requiredTool, question)]);
}

/** Calls the tools that fit the question, one for each part of it. */
export async function callFittingTools(situation: Situation): Promise<Answer | undefined> {
  const { offer, conversation } = situation;
  const { question } = conversation;
  if (offer.choice === 'none' || offer.tools.length === 0 || question === '') return undefined;
  const parts = offer.isParallel ? splitClauses(question) : [question];
  const calls = await planFittingCalls(parts, situation);
  if (calls.length === parts.length || parts.length === 1) return toAnswer(calls);
  return toAnswer(await planFittingCalls([question], situation));
}

/** Quotes the results of the tools. For a long result, quotes only the sentences nearest to the question. */
export async function answerFromResults({ conversation, compareDeps, steps }: Situation): Promise<Answer | undefined> {
  const { toolResults, question } = conversation;
  if (toolResults.length === 0) return undefined;
  const texts: string[] = [];
  for (const result of toolResults.slice(0, maxResults)) texts.push(await summarizeResult(result, question, compareDeps));
  const names = toolResults.map(({ name }) => `\`${name}\``).slice(0, maxResults);
  steps.push({
    name: 'Reading the results',
    content: `Results of ${[...new Set(names)].join(', ')}: ${toolResults.length}.`,
    status: 'completed',
  });
  return { content: texts.join('\n\n') };
}

/** Returns a result as text, or its sentences nearest to the question if it is long. */
async function summarizeResult({ name, text }: ToolResult, question: string, compareDeps: CompareDeps): Promise<string> {
  const result = text.trim();
  if (result === '') return `${name} says nothing.`;
  if (result.length <= maxQuotedChars) return `${name} says: ${formatResult(result)}`;
  const passages = splitPassages(result);
  const quotes = question === '' ? [] : await quotePassages(question, passages, compareDeps);
  if (quotes.length === 0 && passages.length > 1)
    return `${name} returned ${passages.length} passages. No passage is close to your question.`;
  if (quotes.length === 0)
    return `${name} says (the beginning of ${result.length} characters): ${shorten(result, maxQuotedChars)}`;
  return `${name} says, nearest to your question:\n\n${quotes.map(toLine).join('\n>\n')}`;
}

/** Returns the quote with the citation number of its passage, if there is one. */
function toLine({ sentence, source }: Quote): string {
  return source === '' ? `> ${sentence}` : `> ${sentence} ${source}`;
}

async function planFittingCalls(parts: readonly string[], { offer, compareDeps, steps }: Situation): Promise<PlannedCall[]> {
  const calls: PlannedCall[] = [];
  for (const part of parts) {
    const scores = await scoreTools(part, offer.tools, compareDeps);
    const tool = findFittingTool(part, scores);
    steps.push(createLookupStep(scores, tool));
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

function createLookupStep(scores: readonly ToolScore[], selectedTool: OfferedTool | undefined): Step {
  const listed = scores.slice(0, maxListed).map(({ tool, score }) => `- \`${tool.name}\`: ${score.toFixed(2)}`);
  const verdict = selectedTool === undefined ? 'No tool fits.' : `Selected: \`${selectedTool.name}\`.`;
  return { name: 'Looking for a fitting tool', content: `${listed.join('\n')}\n\n${verdict}`, status: 'completed' };
}

const citationNumber = /^(\[\d{1,4}\]) /m;
/** Matches the heading line of a passage: the file, the page, and the headings. */
const sectionHeading = /^[^\n]{1,255}\.[a-z]{2,5}(?:, (?:page|slide|sheet) \d+)?(?: — [^\n]*)?(?:\n|$)/;

/**
 * Returns the passages of a result that begin with a number such as [1], with that number as the source. Returns other results
 * as one passage without a source.
 */
function splitPassages(result: string): Passage[] {
  const [, ...parts] = result.split(citationNumber);
  if (parts.length === 0) return [{ source: '', text: result }];
  const passages: Passage[] = [];
  for (let index = 0; index < parts.length; index += 2)
    passages.push({ source: parts[index] ?? '', text: (parts[index + 1] ?? '').replace(sectionHeading, '') });
  return passages;
}

/** Returns an object of plain values as text. Returns other text unchanged. */
function formatResult(result: string): string {
  const value = result.startsWith('{') ? tryParseJson(result) : undefined;
  if (!isJsonObject(value) || Object.keys(value).length === 0) return result;
  const entries = Object.entries(value);
  if (entries.some(([, item]) => typeof item === 'object')) return result;
  return `${entries.map(([name, item]) => `${name.replaceAll('_', ' ')} ${item}`).join(', ')}.`;
}

interface ToolScore {
  readonly tool: OfferedTool;
  /** From -1 to about 1.1. */
  readonly score: number;
}

/**
 * Minimum score of a fitting tool. With MiniLM and the tools and questions of answer-by-tool.test.ts, the weakest correct pair
 * scores 0.30, and the strongest wrong pair scores 0.27.
 */
const minScore = 0.29;
const sharedWordBonus = 0.08;
const toolNameScore = 1.1;
const maxDescriptionChars = 300;
// Pattern bound: a name and 300 characters of a description.
const searchToolPattern = /\b(search|query|retriev\w*|look(s|ing)? up|find|documents?|knowledge)\b/i;
const questionPattern = /\?\s*$|^(who|what|when|where|which|why|how|find|search|look up|explain|summari[sz]e|according)\b/i;

/** Scores the tools by how well they fit the question, best first. */
export async function scoreTools(question: string, tools: readonly OfferedTool[], deps: CompareDeps): Promise<ToolScore[]> {
  const similarities = await compare(question, tools.map(toToolText), deps);
  const questionStems = listStems(question);
  return tools
    .map((tool, index) => {
      const bonus = countShared(questionStems, listStems(toToolText(tool))) > 0 ? sharedWordBonus : 0;
      const score = question.includes(tool.name) && tool.name.includes('_') ? toolNameScore : (similarities[index] ?? 0) + bonus;
      return { tool, score };
    })
    .sort((first, second) => second.score - first.score);
}

/**
 * Returns the nearest tool if it is near enough. For a question or a search request, returns a search tool instead if no tool is
 * near enough, or if the text lacks an argument of the nearest tool. Without a search tool, returns the nearest tool.
 */
export function findFittingTool(question: string, scores: readonly ToolScore[]): OfferedTool | undefined {
  const [best] = scores;
  const nearest = best !== undefined && best.score >= minScore ? best.tool : undefined;
  if (!questionPattern.test(question) || (nearest !== undefined && !needsGuess(nearest.parameters, question))) return nearest;
  return scores.find(({ tool }) => searchToolPattern.test(toToolText(tool)))?.tool ?? nearest;
}

/**
 * Splits several questions, such as "What is the weather in Paris and what time is it in Tokyo?". Returns other text as one
 * question.
 */
export function splitClauses(question: string): string[] {
  const clauses = question
    // Pattern bound: `splitQuestion` limits a question to 600 characters.
    .split(/\?\s+|;\s+|[.]\s+|,?\s+and\s+(?:then\s+|also\s+)?/i)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '');
  const areComplete = clauses.length > 1 && clauses.length <= 4 && clauses.every((clause) => countWords(clause) >= 3);
  return areComplete ? clauses : [question];
}

function toToolText({ name, description }: OfferedTool): string {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ');
  return `${words.toLowerCase()}: ${shorten(description, maxDescriptionChars)}`;
}
