import type { LanguageModelV4ReasoningPart, SharedV4ProviderMetadata, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { filterObjects, type JsonObject, toObject } from '#base/json/json.ts';
import type { Message } from '#contract/chat/message.ts';
import type { Vendor } from './vendor.ts';

/**
 * Converts a signature of Gemini to the format of Google's OpenAI-compatible API: `extra_content.google.thought_signature` of a
 * tool call, or of the message if its text is signed.
 */
export function toExtraContent(metadata: SharedV4ProviderMetadata | undefined, { namespace }: Vendor): JsonObject {
  const signature = metadata?.[namespace]?.thoughtSignature;
  return typeof signature === 'string' ? { extra_content: { google: { thought_signature: signature } } } : {};
}

/** Converts `extra_content` of a message or tool call to the option of the package. */
export function fromExtraContent(
  { extra_content: extra }: JsonObject,
  { reasoningFormat }: Vendor,
): { providerOptions?: SharedV4ProviderOptions } {
  const { thought_signature: thoughtSignature } = toObject(toObject(extra).google);
  return reasoningFormat === 'signature' && typeof thoughtSignature === 'string'
    ? { providerOptions: { google: { thoughtSignature } } }
    : {};
}

/** Converts reasoning to a block for `thinking_blocks`. Returns undefined if it has no signature and no redacted data. */
export function toThinkingBlock(thinking: string, metadata: JsonObject): JsonObject | undefined {
  const { signature, redactedData, redactedContent } = metadata;
  if (typeof signature === 'string') return { type: 'thinking', thinking, signature };
  if (typeof redactedData === 'string') return { type: 'redacted_thinking', data: redactedData };
  if (typeof redactedContent === 'string') return { type: 'redacted_content', data: redactedContent };
  return undefined;
}

/** Converts the reasoning of an earlier reply to the format that the vendor accepts. */
export function toReasoningParts(message: Message, { reasoningFormat, namespace }: Vendor): LanguageModelV4ReasoningPart[] {
  const { reasoning_content: text, thinking_blocks: blocks } = message;
  if (reasoningFormat === 'plain' && typeof text === 'string' && text !== '') return [{ type: 'reasoning', text }];
  if (reasoningFormat !== 'signed') return [];
  return filterObjects(blocks).flatMap((block) => {
    const signed = toSignedReasoning(block);
    return signed === undefined
      ? []
      : [{ type: 'reasoning', text: signed.text, providerOptions: { [namespace]: signed.options } }];
  });
}

interface SignedReasoning {
  readonly text: string;
  readonly options: Record<string, string>;
}

/** Returns undefined for reasoning without a signature, because the vendor would reject it or read it as the answer. */
function toSignedReasoning({ type, thinking, signature, data }: JsonObject): SignedReasoning | undefined {
  if (type === 'redacted_thinking' && typeof data === 'string') return { text: '', options: { redactedData: data } };
  if (type === 'redacted_content' && typeof data === 'string') return { text: '', options: { redactedContent: data } };
  if (type !== 'thinking' || typeof thinking !== 'string' || typeof signature !== 'string' || signature === '') return undefined;
  return { text: thinking, options: { signature } };
}
