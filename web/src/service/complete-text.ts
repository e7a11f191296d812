import { filterObjects, type JsonObject, toObject, toText } from '#base/json/json.ts';
import type { Service } from './service.ts';

interface TextRequest {
  readonly model: string;
  readonly instructions: string;
  readonly content: string;
  readonly maxTokens?: number;
  readonly signal?: AbortSignal;
}

/** Requests a text from a model, outside of a chat. Returns '' if the reply contains no text. Throws `ServiceError`. */
export async function completeText(
  service: Service,
  { model, instructions, content, maxTokens, signal }: TextRequest,
): Promise<string> {
  const messages = [
    { role: 'system', content: instructions },
    { role: 'user', content },
  ];
  const body = { model, messages, ...(maxTokens !== undefined && { max_tokens: maxTokens }) };
  const answer = await service.json('v1/chat/completions', { method: 'POST', body, ...(signal && { signal }) });
  return toText(readFirstMessage(answer).content);
}

/** Returns the message of the first choice of a completion, or an empty object. */
export function readFirstMessage(answer: unknown): JsonObject {
  const [choice] = filterObjects(toObject(answer).choices);
  return toObject(choice?.message);
}
