import { ParleyError } from '#contract/errors.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';

/** How long a conversation may be, and how long one is. */
export interface Fitting {
  /** Tokens of a request that the model takes; absent if nobody knows. */
  readonly maxTokens: number | undefined;
  /** Whether the oldest may be dropped. */
  readonly mayDrop: boolean;
  /** Estimated tokens of a request with these items. */
  readonly tokensOf: (items: readonly AnyItem[]) => number;
}

/**
 * The items that fit the model: the oldest are dropped, but never instructions, a call without its output, nor a thought
 * without what it led to. Throws context_length_exceeded.
 */
export function fitItems(items: readonly AnyItem[], { maxTokens, mayDrop, tokensOf }: Fitting): readonly AnyItem[] {
  if (maxTokens === undefined) return items;
  const tokens = tokensOf(items);
  if (tokens <= maxTokens) return items;
  const from = (cut: number): AnyItem[] => items.filter((item, index) => index >= cut || isKept(item));
  const fits = (cut: number): boolean => tokensOf(from(cut)) <= maxTokens;
  const cut = mayDrop ? firstThat(cutsOf(items), fits) : undefined;
  if (cut !== undefined) return from(cut);
  const way = mayDrop ? 'its last item alone is too long' : 'send less, or truncation: "auto"';
  throw new ParleyError(
    'context_length_exceeded',
    `The input has about ${tokens} tokens, and the model takes ${maxTokens}; ${way}.`,
    { param: 'input' },
  );
}

/** Places ahead of which everything may go, the earliest first. */
function cutsOf(items: readonly AnyItem[]): number[] {
  const open = new Set<string>();
  const cuts: number[] = [];
  items.forEach((item, index) => {
    const { type, call_id: id } = item as { type: string; call_id?: string };
    if (id !== undefined && type.endsWith('_call')) open.add(id);
    else if (id !== undefined) open.delete(id);
    if (open.size === 0 && type !== 'reasoning' && index + 1 < items.length) cuts.push(index + 1);
  });
  return cuts;
}

function isKept(item: AnyItem): boolean {
  if (item.type === 'additional_tools' || item.type === 'compaction') return true;
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

/** The first of ascending places for which something holds that holds for all behind it. */
function firstThat(places: readonly number[], holds: (place: number) => boolean): number | undefined {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(places[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return places[low];
}
