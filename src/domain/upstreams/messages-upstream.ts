import type { Upstream } from './upstream.ts';

/** Whether an upstream speaks the Messages dialect: a caller of it is relayed. Google's Vertex serves Claude in it. */
export function speaksMessages(upstream: Upstream): boolean {
  return upstream.protocol === 'anthropic' || isClaudeOnVertex(upstream);
}

/** Whether it is a Claude behind Google's Vertex, by its model or its address. */
export function isClaudeOnVertex({ protocol, model, endpoint }: Upstream): boolean {
  if (protocol !== 'vertex') return false;
  return /^claude-/i.test(model) || (endpoint?.pathname.includes('/publishers/anthropic') ?? false);
}
