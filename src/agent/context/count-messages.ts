import { setImmediate as nextTurn } from 'node:timers/promises';
import { isJsonObject } from '#base/json/json.ts';
import { loadTokenizer, type Vocabulary } from '#base/text/tokens.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Message } from '#contract/chat/message.ts';
import { estimateTokensHigh } from '#domain/usage/vocabulary.ts';

/** Counts the tokens of messages, and of the tools and formats that each request adds. */
export interface MessageCounter {
  count(message: Message): number;
  countSettings(request: ChatRequest): number;
}

const tokensPerMessage = 5;
/** Number of tokens that vendors count for a full-size image. */
const tokensPerImage = 1_600;
/** Number of base64 characters per token, for files other than images. */
const charsPerToken = 16;
/** Maximum number of characters that an exact counter tokenizes. Each takes up to 8 µs. */
const maxExactChars = 500_000;

/** Creates a counter that estimates. The estimate tends to be too high. */
export function createEstimator(): MessageCounter {
  return createCounter(estimateTokensHigh);
}

/**
 * Creates a counter that uses a vocabulary. It counts the texts of the messages in advance, and yields to the event loop after
 * each. After 500,000 characters it scales the estimate by the ratio that it has measured so far.
 */
export async function createExactCounter(vocabulary: Vocabulary, messages: readonly Message[]): Promise<MessageCounter> {
  const tokenizer = await loadTokenizer(vocabulary);
  const counts = new Map<string, number>();
  const total = { chars: 0, tokens: 0, estimate: 0 };
  const countText = (text: string): number => {
    const estimate = estimateTokensHigh(text);
    if (total.chars >= maxExactChars) return Math.ceil((estimate * total.tokens) / total.estimate);
    const count = tokenizer.count(text);
    total.chars += text.length;
    total.tokens += count;
    total.estimate += estimate;
    return count;
  };
  const texts: string[] = [];
  for (const message of messages)
    countParts(message, (text) => {
      texts.push(text);
      return 0;
    });
  for (const text of texts) {
    if (counts.has(text)) continue;
    counts.set(text, countText(text));
    await nextTurn();
  }
  return createCounter((text) => counts.get(text) ?? countText(text));
}

function createCounter(count: (text: string) => number): MessageCounter {
  const counts = new WeakMap<object, number>();
  const getCount = (key: object, compute: () => number): number => {
    const cached = counts.get(key);
    if (cached !== undefined) return cached;
    const tokens = compute();
    counts.set(key, tokens);
    return tokens;
  };
  return {
    count: (message) => getCount(message, () => tokensPerMessage + countParts(message, count)),
    countSettings: ({ tools, functions, response_format: format }) =>
      [tools, functions, format].reduce<number>(
        (sum, part) => sum + (part ? getCount(part, () => count(JSON.stringify(part))) : 0),
        0,
      ),
  };
}

function countParts(message: Message, count: (text: string) => number): number {
  const { role: _role, content, custom_content: custom, tool_call_id: _id, ...otherFields } = message;
  let tokens = typeof content === 'string' ? count(content) : 0;
  for (const part of Array.isArray(content) ? content : []) tokens += countContentPart(part, count);
  for (const { type = '', data = '', url } of custom?.attachments ?? [])
    tokens += type.startsWith('image/')
      ? tokensPerImage
      : type.startsWith('text/')
        ? count(data)
        : countFileTokens(data) + (url ? tokensPerImage : 0);
  if (custom?.completed_control !== undefined) tokens += count(JSON.stringify(custom.completed_control));
  for (const value of Object.values(otherFields))
    tokens += typeof value === 'string' ? count(value) : count(JSON.stringify(value ?? ''));
  return tokens;
}

function countContentPart(part: unknown, count: (text: string) => number): number {
  if (!isJsonObject(part)) return 0;
  if (typeof part.text === 'string') return count(part.text);
  if (part.type === 'image_url') return tokensPerImage;
  return countFileTokens(JSON.stringify(part));
}

function countFileTokens(data: string): number {
  return Math.ceil(data.length / charsPerToken);
}
