import type { NodeBroadcast } from '#domain/node-broadcast.ts';

/** Stored data that nodes have in memory. */
type CachedKind = 'user-keys' | 'blocked-users' | 'group-roles' | 'entries';

/**
 * Returns a function that makes other nodes read the stored data again. Between workers of one node, it resolves after they have
 * read it, so that the next request finds the change in every worker. Undefined if there are no other nodes.
 */
export function createAnnounce(broadcast: NodeBroadcast | undefined, kind: CachedKind): (() => Promise<void>) | undefined {
  // Nodes that miss the notice read the store regularly.
  return broadcast && (() => broadcast.publish({ topic: 'stored', text: kind }).catch(() => undefined));
}

/** Calls `refresh` when another node announces a change of the data. */
export function onAnnounced(broadcast: NodeBroadcast | undefined, kind: CachedKind, refresh: () => Promise<void>): void {
  broadcast?.onNotice(({ topic, text }) => (topic === 'stored' && text === kind ? refresh() : undefined));
}
