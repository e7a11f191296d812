import { isJsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { Answer, Situation, WayToAnswer } from './answer.ts';
import { callDemandedTool, callFittingTools, tellResults } from './answer-by-tool.ts';
import { quoteAttached, quoteDocuments } from './answer-from-passages.ts';
import { admit, count, makeSmallTalk } from './answer-in-words.ts';
import { showParts, tellControl } from './answer-with-show.ts';
import { fillArguments } from './fill-arguments.ts';

/** The first that applies answers. */
const ways: readonly WayToAnswer[] = [
  callDemandedTool,
  tellResults,
  tellControl,
  makeSmallTalk,
  quoteAttached,
  callFittingTools,
  showParts,
  count,
  quoteDocuments,
];

export async function planAnswer(situation: Situation): Promise<Answer> {
  for (const answer of ways) {
    const given = await answer(situation);
    if (given !== undefined) return given;
  }
  return admit(situation);
}

/** The content as `response_format` wants it: as it is, as a JSON object, or as one that has the shape of a schema. */
export function toFormat(content: string, request: ChatRequest, question: string): string {
  const { response_format: format } = request;
  if (!isJsonObject(format) || content === '') return content;
  if (format.type === 'json_object') return JSON.stringify({ answer: content });
  if (format.type !== 'json_schema' || !isJsonObject(format.json_schema)) return content;
  const { schema } = format.json_schema;
  return JSON.stringify(isJsonObject(schema) ? fillArguments(schema, question) : { answer: content });
}
