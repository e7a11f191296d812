import type { Deployment } from '../deployments/deployment.ts';
import { maxTokensPerCall, type TokenCounts } from './usage.ts';

/** Minimum estimate for a deployment without a completed call. */
const minUnlearnedTokens = 4_096;
/** Weight of one reply in the mean and in the deviation. */
const meanWeight = 1 / 8;
const deviationWeight = 1 / 4;
const maxDeployments = 10_000;

/** Size of a call before its reply. */
export interface CallSize {
  /** Estimated tokens of the request. */
  readonly promptTokens: number;
  /** Maximum number of reply tokens. Undefined if there is no maximum. */
  readonly maxTokens: number | undefined;
}

type SizedDeployment = Pick<Deployment, 'id' | 'limits' | 'pricing'>;

/** Moving mean with its deviation. */
interface MovingMean {
  mean: number;
  deviation: number;
}

interface LearnedSizes {
  /** Prompt tokens beyond the estimate, for images, tools, and instructions of an application. */
  readonly promptExcess: MovingMean;
  readonly completion: MovingMean;
  /** Whether replies respect the maximum of a request. Applications and some upstreams do not. */
  keepsToMaximum: boolean;
}

/** Learns the token usage of deployments from calls that completed on this node. */
export class ReplySizes {
  readonly #learned = new Map<string, LearnedSizes>();

  /**
   * Returns the estimated usage of a call from the completed calls of the deployment. Before the first one, the estimate is the
   * prompt plus the requested maximum, but at least 4,096 tokens.
   */
  estimate({ id, limits, pricing }: SizedDeployment, { promptTokens, maxTokens }: CallSize): TokenCounts {
    const learned = this.#learned.get(id);
    if (learned === undefined) {
      const maxTotal = limits?.maxTotalTokens ?? Number.POSITIVE_INFINITY;
      const requested = promptTokens + (maxTokens ?? limits?.maxCompletionTokens ?? 0);
      const tokens = Math.min(Math.max(requested, minUnlearnedTokens), maxTotal);
      // The kind of these tokens is unknown, so they count as the more expensive kind.
      const isPromptMoreExpensive = (pricing?.prompt ?? 0) > (pricing?.completion ?? 0);
      return isPromptMoreExpensive ? toCounts(tokens, 0) : toCounts(promptTokens, tokens - promptTokens);
    }
    const { promptExcess, completion, keepsToMaximum } = learned;
    const bound = keepsToMaximum && maxTokens !== undefined ? maxTokens : Number.POSITIVE_INFINITY;
    return toCounts(promptTokens + toUpperBound(promptExcess), Math.min(toUpperBound(completion), bound));
  }

  /** Learns from the usage of a complete reply. */
  learn({ id }: SizedDeployment, { promptTokens, maxTokens }: CallSize, used: Readonly<TokenCounts>): void {
    const excess = used.prompt_tokens - promptTokens;
    const exceeds = maxTokens !== undefined && used.completion_tokens > maxTokens;
    const learned = this.#learned.get(id);
    if (learned === undefined) {
      if (this.#learned.size >= maxDeployments) this.#learned.delete(this.#learned.keys().next().value ?? '');
      const completion = { mean: used.completion_tokens, deviation: 0 };
      this.#learned.set(id, { promptExcess: { mean: excess, deviation: 0 }, completion, keepsToMaximum: !exceeds });
      return;
    }
    update(learned.promptExcess, excess);
    update(learned.completion, used.completion_tokens);
    if (exceeds) learned.keepsToMaximum = false;
  }
}

function update(expected: MovingMean, observed: number): void {
  const difference = observed - expected.mean;
  expected.mean += difference * meanWeight;
  expected.deviation += (Math.abs(difference) - expected.deviation) * deviationWeight;
}

function toUpperBound({ mean, deviation }: MovingMean): number {
  return mean + deviation;
}

function toCounts(prompt: number, completion: number): TokenCounts {
  const prompt_tokens = toTokenCount(prompt);
  const completion_tokens = toTokenCount(completion);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function toTokenCount(tokens: number): number {
  return Math.min(maxTokensPerCall, Math.max(0, Math.ceil(tokens)));
}
