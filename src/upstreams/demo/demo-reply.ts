import { loadTokens } from '#base/text-tokens.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { Chunk, Delta, FinishReason } from '#contract/chunk.ts';
import type { Embedder } from '#domain/tools/embedder.ts';
import type { Situation } from './answer.ts';
import { countPrompt } from './count-prompt.ts';
import { toFault } from './embedder-fault.ts';
import { planAnswer, toFormat } from './plan-answer.ts';
import { readConversation } from './read-conversation.ts';
import { readCut } from './read-cut.ts';
import { readTools } from './read-tools.ts';
import { readBounds, shapeReply } from './shape-reply.ts';
import { replyDeltas, stageDeltas, stageEnd } from './to-deltas.ts';
import { countWords, shorten } from './words.ts';

type ChunkPart = Pick<Chunk, 'choices' | 'usage'>;

interface ReplyDeps {
  readonly embedder: Embedder;
  readonly newId: () => string;
}

const readingStage = 'Reading the question';

/** Yields the parts of the reply to a request. Throws `UpstreamFault` if the embedder fails. */
export async function* createDemoReply(
  request: ChatRequest,
  { embedder, newId }: ReplyDeps,
  signal: AbortSignal,
): AsyncGenerator<ChunkPart> {
  yield toPart({ role: 'assistant' });
  yield toPart({ custom_content: { stages: [{ index: 0, name: readingStage, status: null }] } });
  const cut = readCut(request);
  const conversation = readConversation(cut === undefined ? request : { ...request, messages: cut.messages });
  const situation: Situation = { conversation, offer: readTools(request), comparing: { embedder, signal }, steps: [] };
  const { question } = conversation;
  for (const delta of stageEnd(0, { content: toReport(situation), status: 'completed' })) yield toPart(delta);

  const tokens = await loadTokens();
  const { form } = situation.offer;
  const planned = await planAnswer(situation).catch((thrown: unknown) => {
    throw toFault(thrown, signal);
  });
  // The same question has the same answer: what was said of it already is left out.
  const content = toFormat(planned.content, request, question);
  const answer = {
    ...planned,
    content: cut !== undefined && content.startsWith(cut.said) ? content.slice(cut.said.length) : content,
  };
  const shaped = shapeReply(answer, { ...readBounds(request), form }, tokens);

  for (const [index, step] of situation.steps.entries()) {
    for (const delta of stageDeltas(index + 1, step)) yield toPart(delta);
  }
  const newCallId = form === 'functions' ? undefined : () => `call_${newId()}`;
  for (const delta of replyDeltas(shaped, answer, newCallId)) yield toPart(delta);
  yield toPart({}, shaped.finish);

  const prompt_tokens = countPrompt(request, tokens);
  yield { choices: [], usage: { prompt_tokens, completion_tokens: shaped.tokens, total_tokens: prompt_tokens + shaped.tokens } };
}

function toPart(delta: Delta, finish_reason: FinishReason | null = null): ChunkPart {
  return { choices: [{ index: 0, delta, finish_reason }] };
}

function toReport({ conversation, offer }: Situation): string {
  const { question, passages, attachments } = conversation;
  if (question === '') return 'There is no question.';
  const counts = `${offer.tools.length} tools, ${passages.length} passages, ${attachments.length} attachments`;
  return `“${shorten(question, 200)}”: ${countWords(question)} words; beside it ${counts}.`;
}
