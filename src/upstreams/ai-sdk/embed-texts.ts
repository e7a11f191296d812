import type { EmbeddingModelV4 } from '@ai-sdk/provider';
import type { JsonObject } from '#base/json.ts';
import type { EmbeddingsRequest } from '#contract/embeddings-request.ts';
import { type Ask, UpstreamFault } from '#domain/upstreams/upstream.ts';
import { requireVectors } from '../embeddings-reply.ts';
import { dialects } from './dialect.ts';

const mostAtOnce = 8;

type Embedded = Awaited<ReturnType<EmbeddingModelV4['doEmbed']>>;

/** Answers an embeddings request of OpenAI's API, in as many calls as the vendor needs. Throws UpstreamFault 400 for tokens: vendors count in their own. */
export async function embedTexts(
  model: EmbeddingModelV4,
  { request, upstream, headers }: Ask<EmbeddingsRequest>,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { dimensions, encoding_format: format } = request;
  const most = (await model.maxEmbeddingsPerCall) ?? Number.POSITIVE_INFINITY;
  const batches = toBatches(toTexts(request.input), Math.max(1, most));
  const options = { headers: { ...headers }, abortSignal: signal, ...toLength(upstream.model, dimensions) };
  const replies: Embedded[] = [];
  for (let from = 0; from < batches.length; from += mostAtOnce) {
    const some = batches.slice(from, from + mostAtOnce);
    replies.push(...(await Promise.all(some.map((values) => model.doEmbed({ ...options, values })))));
  }
  const vectors = replies.flatMap(({ embeddings }) => embeddings);
  const data = vectors.map((vector, index) => ({ object: 'embedding', index, embedding: vector }));
  requireVectors({ data });
  return {
    object: 'list',
    data: format === 'base64' ? data.map((item) => ({ ...item, embedding: toBase64(item.embedding) })) : data,
    model: upstream.model,
    ...toUsage(replies),
  };
}

/** How long each vector shall be; the models of Bedrock each have a name of their own for it. */
function toLength(model: string, dimensions: number | undefined) {
  if (dimensions === undefined) return {};
  const name = model.includes('cohere.')
    ? 'outputDimension'
    : model.includes('amazon.nova-')
      ? 'embeddingDimension'
      : 'dimensions';
  return { dimensions, providerOptions: { [dialects.bedrock.namespace]: { [name]: dimensions } } };
}

function toTexts(input: EmbeddingsRequest['input']): string[] {
  if (typeof input === 'string') return [input];
  if (typeof input[0] === 'string') return input as string[];
  const message = 'The upstream of this model takes text, no tokens.';
  throw new UpstreamFault('refused', message, { status: 400, param: 'input' });
}

function toBatches(texts: readonly string[], most: number): string[][] {
  const batches: string[][] = [];
  for (let from = 0; from < texts.length; from += most) batches.push(texts.slice(from, from + most));
  return batches;
}

/** Nothing if the vendor reports no counts. */
function toUsage(replies: readonly Embedded[]): JsonObject {
  const counts = replies.map(({ usage }) => usage?.tokens);
  if (!counts.every((count) => typeof count === 'number' && Number.isFinite(count))) return {};
  const tokens = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return { usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT);
  vector.forEach((value, index) => {
    bytes.writeFloatLE(value, index * Float32Array.BYTES_PER_ELEMENT);
  });
  return bytes.toString('base64');
}
