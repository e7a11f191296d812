/** A message between the nodes of an installation: the ID of a response that its user ended, or the pause of an upstream. */
export interface Notice {
  readonly topic: 'response' | 'upstream';
  readonly text: string;
}

/** Port that sends notices to all other nodes, at most once and with best effort. Has no effect on a single node. */
export interface NodeBroadcast {
  /** Resolves after the notice is sent. Throws `StoreError`. */
  publish(notice: Notice): Promise<void>;
  /** Calls `listener` with each notice that another node publishes from now on. */
  onNotice(listener: (notice: Notice) => void): void;
}
