import type { Deployment } from '#domain/deployment.ts';
import { speaksMessages } from '#domain/messages-upstream.ts';
import type { Upstream } from '#domain/upstream.ts';

/** How much of a request of the dialect reaches the upstreams of a deployment. */
export interface Reach {
  /** One of them speaks the dialect: what only such a one can be told is no reason to refuse. */
  readonly isNative: boolean;
  /** All of them know marks up to which a prompt is cached. */
  readonly takesCacheMarks: boolean;
  /** All of them know `top_k` and thinking as the dialect has them. */
  readonly takesOwnFields: boolean;
}

const ownFields: ReadonlySet<Upstream['protocol']> = new Set(['anthropic', 'bedrock', 'vertex', 'gemini']);

/** Undefined is what no configuration has: an application made through the API. */
export function reachOf(deployment: Deployment | undefined): Reach {
  const upstreams = deployment?.kind === 'model' ? deployment.upstreams : [];
  const all = (is: (upstream: Upstream) => boolean): boolean => upstreams.length > 0 && upstreams.every(is);
  return {
    isNative: upstreams.some(speaksMessages),
    takesCacheMarks: all((upstream) => speaksMessages(upstream) || upstream.protocol === 'bedrock'),
    takesOwnFields: all(({ protocol }) => ownFields.has(protocol)),
  };
}
