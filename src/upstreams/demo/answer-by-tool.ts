import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import type { Answer, PlannedCall, Situation, Step } from './answer.ts';
import { fillArguments } from './fill-arguments.ts';
import { fittingTool, leastScore, scoreTools, splitClauses, type ToolScore } from './pick-tool.ts';
import { type Quote, quotePassages } from './quote-passages.ts';
import type { ToolResult } from './read-conversation.ts';
import { inWords, numberedPassages } from './read-results.ts';
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
