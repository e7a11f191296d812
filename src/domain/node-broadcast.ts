/** What the nodes of an installation tell each other: a configuration, or the id of a response that its user ended on another node. */
export interface Notice {
  readonly topic: 'configuration' | 'response';
  readonly text: string;
}

/** Port: tells every other node; best effort, at most once. On one machine there is nobody to tell. */
export interface NodeBroadcast {
  /** Resolves once it is on its way. Throws StoreFault. */
  publish(notice: Notice): Promise<void>;
  /** Calls `hear` with each notice that another node publishes from now on. */
  onNotice(listener: (notice: Notice) => void): void;
}
