import { protocols } from '#contract/configuration/protocols.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { speaksMessages, type Upstream } from '#domain/upstreams/upstream.ts';

/** How much of a request of the dialect reaches the upstreams of a deployment. */
export interface UpstreamCapabilities {
  /** One of them speaks the dialect: what only such an upstream takes is no reason to refuse. */
  readonly isNative: boolean;
  /** All of them know marks up to which a prompt is cached. */
  readonly takesCacheMarks: boolean;
  /** All of them know `top_k` and thinking as the dialect has them. */
  readonly takesThinking: boolean;
}

export function getCapabilities({ kind, upstreams: all }: Deployment): UpstreamCapabilities {
  const upstreams = kind === 'model' ? all : [];
  const every = (is: (upstream: Upstream) => boolean): boolean => upstreams.length > 0 && upstreams.every(is);
  return {
    isNative: upstreams.some(speaksMessages),
    takesCacheMarks: every((upstream) => speaksMessages(upstream) || protocols[upstream.protocol].takesCacheMarks),
    takesThinking: every(({ protocol }) => protocols[protocol].takesThinking),
  };
}
