export const noticeTopics = ['response', 'upstream', 'mcp-call', 'stored'] as const;

/**
 * A message between the nodes of an installation. `text` is the ID of a response that its user ended on another node, the pause of
 * an upstream, the key of an MCP call that its client canceled on another node, or the kind of stored data that changed.
 */
export interface Notice {
  readonly topic: (typeof noticeTopics)[number];
  readonly text: string;
}

/** Port that sends notices to all other nodes, at most once and with best effort. Has no effect on a single node. */
export interface NodeBroadcast {
  /**
   * Resolves after the notice is sent. If the receivers are workers of the same node, resolves only after they have processed it.
   * Throws `StoreError`.
   */
  publish(notice: Notice): Promise<void>;
  /** Calls `listener` with each notice that another node publishes from now on. */
  onNotice(listener: (notice: Notice) => unknown): void;
}
