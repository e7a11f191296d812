import type { NodeState, Upstream } from './read-operations.ts';

/** How bad something is. */
export type Look = 'good' | 'doubtful' | 'bad';

/** An upstream that refuses its key needs somebody; one that is left alone, or failed last, may come back by itself. */
export function lookOf({ state, failuresInARow, refusedStatus }: Upstream): Look {
  if (refusedStatus !== undefined && refusedStatus !== 429) return 'bad';
  return state !== 'ok' || failuresInARow > 0 || refusedStatus !== undefined ? 'doubtful' : 'good';
}

/** What is wrong beside the reasons that the node itself gives. */
export interface Troubles {
  readonly upstreams: number;
  readonly isConfigurationRefused: boolean;
  readonly look: Look;
}

export function troublesOf({ upstreams, hindrances, reasons, stores, refusedAtMs }: NodeState): Troubles {
  const looks = upstreams.map(lookOf);
  const count = looks.filter((look) => look !== 'good').length;
  const isConfigurationRefused = refusedAtMs !== undefined;
  const isDoubtful = reasons.length > 0 || count > 0 || isConfigurationRefused || stores.some(({ isAway }) => isAway);
  const otherwise = isDoubtful ? 'doubtful' : 'good';
  return { upstreams: count, isConfigurationRefused, look: hindrances.length > 0 ? 'bad' : otherwise };
}

const ranks: Readonly<Record<Look, number>> = { bad: 0, doubtful: 1, good: 2 };

/** Those in trouble first; ones that stood in an order already keep it, so that nothing moves that is being read. */
export function ordered(upstreams: readonly Upstream[], before: readonly string[]): readonly Upstream[] {
  const places = new Map(before.map((id, at) => [id, at]));
  return upstreams.toSorted((one, other) => {
    const [here, there] = [places.get(one.id), places.get(other.id)];
    if (here !== undefined || there !== undefined) return (here ?? Number.MAX_VALUE) - (there ?? Number.MAX_VALUE);
    return ranks[lookOf(one)] - ranks[lookOf(other)];
  });
}
