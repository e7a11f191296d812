import { protocols } from '#contract/configuration/protocols.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { speaksMessages, type Upstream } from '#domain/upstreams/upstream.ts';

/** Features of the upstreams of a deployment. */
export interface UpstreamCapabilities {
  /** Whether an upstream supports the Messages API. If so, the request is accepted even if it cannot be translated. */
  readonly isNative: boolean;
  /** Whether all upstreams support prompt cache breakpoints (`cache_control`). */
  readonly acceptsCacheMarks: boolean;
  /** Whether all upstreams support `top_k` and `thinking` in the form of the Messages API. */
  readonly acceptsThinking: boolean;
}

export function getCapabilities({ kind, upstreams: all }: Deployment): UpstreamCapabilities {
  const upstreams = kind === 'model' ? all : [];
  const every = (is: (upstream: Upstream) => boolean): boolean => upstreams.length > 0 && upstreams.every(is);
  return {
    isNative: upstreams.some(speaksMessages),
    acceptsCacheMarks: every((upstream) => speaksMessages(upstream) || protocols[upstream.protocol].acceptsCacheMarks),
    acceptsThinking: every(({ protocol }) => protocols[protocol].acceptsThinking),
  };
}
