import type { LanguageModelV4ReasoningPart, SharedV4ProviderMetadata, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Message } from '#contract/chat/message.ts';
import type { Vendor } from './vendor.ts';

/**
 * What Gemini signs travels as in Google's own OpenAI vendor: `extra_content.google.thought_signature` of a tool call, or of
 * the message for its text.
 */
export function toExtraContent(metadata: SharedV4ProviderMetadata | undefined, { namespace }: Vendor): JsonObject {
  const signature = metadata?.[namespace]?.thoughtSignature;
  return typeof signature === 'string' ? { extra_content: { google: { thought_signature: signature } } } : {};
}

/** The same on its way back. */
export function fromExtraContent(
  { extra_content: extra }: JsonObject,
  { thoughts }: Vendor,
): { providerOptions?: SharedV4ProviderOptions } {
  const google = isJsonObject(extra) && isJsonObject(extra.google) ? extra.google : {};
  const { thought_signature: thoughtSignature } = google;
  return thoughts === 'signature' && typeof thoughtSignature === 'string'
    ? { providerOptions: { google: { thoughtSignature } } }
    : {};
}

/** A block of thought as `thinking_blocks` has it; undefined if nothing of it needs to come back. */
export function toThinkingBlock(thinking: string, metadata: JsonObject): JsonObject | undefined {
  const { signature, redactedData, redactedContent } = metadata;
  if (typeof signature === 'string') return { type: 'thinking', thinking, signature };
  if (typeof redactedData === 'string') return { type: 'redacted_thinking', data: redactedData };
  if (typeof redactedContent === 'string') return { type: 'redacted_content', data: redactedContent };
  return undefined;
}

/** The thoughts of an earlier reply, as the vendor takes them back. */
export function toReasoningParts(message: Message, { thoughts, namespace }: Vendor): LanguageModelV4ReasoningPart[] {
  const { reasoning_content: text, thinking_blocks: blocks } = message;
  if (thoughts === 'plain' && typeof text === 'string' && text !== '') return [{ type: 'reasoning', text }];
  if (thoughts !== 'signed' || !Array.isArray(blocks)) return [];
  return blocks.filter(isJsonObject).flatMap((block) => {
    const signed = toSigned(block);
    return signed === undefined
      ? []
      : [{ type: 'reasoning', text: signed.text, providerOptions: { [namespace]: signed.options } }];
  });
}

interface Signed {
  readonly text: string;
  readonly options: Record<string, string>;
}

/** Thoughts without a signature are not given back: they would be refused, or read as the answer. */
function toSigned({ type, thinking, signature, data }: JsonObject): Signed | undefined {
  if (type === 'redacted_thinking' && typeof data === 'string') return { text: '', options: { redactedData: data } };
  if (type === 'redacted_content' && typeof data === 'string') return { text: '', options: { redactedContent: data } };
  if (type !== 'thinking' || typeof thinking !== 'string' || typeof signature !== 'string' || signature === '') return undefined;
  return { text: thinking, options: { signature } };
}
