import type { Deployment } from '../deployments/deployment.ts';
import { maxTokens, type TokenCounts } from './usage.ts';

/** What is reckoned for a call of which nothing is known, at least. */
const unknownTokens = 4_096;
/** How far one reply moves what is expected, and how far the deviation. */
const meanWeight = 1 / 8;
const deviationWeight = 1 / 4;
const maxDeployments = 10_000;

/** What is known of a call before it is answered. */
export interface CallSize {
  /** Estimated tokens of the request. */
  readonly promptTokens: number;
  /** Tokens that the reply may have; undefined if nothing bounds them. */
  readonly maxTokens: number | undefined;
}

type Sized = Pick<Deployment, 'id' | 'limits' | 'pricing'>;

/** A mean that follows what is seen, and how far that lies apart. */
interface Expected {
  mean: number;
  deviation: number;
}

interface LearnedSizes {
  /** Tokens of prompts beyond their estimates: images, tools, instructions of an application. */
  readonly promptExcess: Expected;
  readonly completion: Expected;
  /** Applications and some upstreams do not keep to the bound of a request. */
  keepsToMaximum: boolean;
}

/** Learns how many tokens calls of a deployment use, from those that came to their end on this node. */
export class ReplySizes {
  readonly #learned = new Map<string, LearnedSizes>();

  /** What a call may come to use: as the deployment's calls before it, else what it asks for, at least 4,096 tokens. */
  estimate({ id, limits, pricing }: Sized, { promptTokens, maxTokens }: CallSize): TokenCounts {
    const learned = this.#learned.get(id);
    if (learned === undefined) {
      const maxTotal = limits?.maxTotalTokens ?? Number.POSITIVE_INFINITY;
      const requested = promptTokens + (maxTokens ?? limits?.maxCompletionTokens ?? 0);
      const tokens = Math.min(Math.max(requested, unknownTokens), maxTotal);
      // Of what kind they will be is not known either: they are taken for the dearer one.
      const isPromptDearer = (pricing?.prompt ?? 0) > (pricing?.completion ?? 0);
      return isPromptDearer ? toCounts(tokens, 0) : toCounts(promptTokens, tokens - promptTokens);
    }
    const { promptExcess, completion, keepsToMaximum } = learned;
    const bound = keepsToMaximum && maxTokens !== undefined ? maxTokens : Number.POSITIVE_INFINITY;
    return toCounts(promptTokens + toUpperBound(promptExcess), Math.min(toUpperBound(completion), bound));
  }

  /** Takes in what a whole reply used. */
  learn({ id }: Sized, { promptTokens, maxTokens }: CallSize, used: Readonly<TokenCounts>): void {
    const excess = used.prompt_tokens - promptTokens;
    const exceeds = maxTokens !== undefined && used.completion_tokens > maxTokens;
    const learned = this.#learned.get(id);
    if (learned === undefined) {
      if (this.#learned.size >= maxDeployments)
        for (const oldest of this.#learned.keys()) if (this.#learned.delete(oldest)) break;
      const completion = { mean: used.completion_tokens, deviation: 0 };
      this.#learned.set(id, { promptExcess: { mean: excess, deviation: 0 }, completion, keepsToMaximum: !exceeds });
      return;
    }
    update(learned.promptExcess, excess);
    update(learned.completion, used.completion_tokens);
    if (exceeds) learned.keepsToMaximum = false;
  }
}

function update(expected: Expected, observed: number): void {
  const difference = observed - expected.mean;
  expected.mean += difference * meanWeight;
  expected.deviation += (Math.abs(difference) - expected.deviation) * deviationWeight;
}

function toUpperBound({ mean, deviation }: Expected): number {
  return mean + deviation;
}

function toCounts(prompt: number, completion: number): TokenCounts {
  const prompt_tokens = toTokenCount(prompt);
  const completion_tokens = toTokenCount(completion);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function toTokenCount(tokens: number): number {
  return Math.min(maxTokens, Math.max(0, Math.ceil(tokens)));
}
