/** One line of a text in two forms. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Beyond this many pairs of lines a text counts as another one. */
const mostPairs = 1_000_000;

/** How one text becomes another: the lines they share, in order, and what stands in one of them alone. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const start = sharedAtStart(old, now);
  const end = sharedAtEnd(old.slice(start), now.slice(start));
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  return [
    ...same(old.slice(0, start)),
    ...diffMiddle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...same(old.slice(old.length - end)),
  ];
}

function diffMiddle(old: readonly string[], now: readonly string[]): DiffLine[] {
  const lengths = old.length * now.length > mostPairs ? undefined : sharedLengths(old, now);
  const lines: DiffLine[] = [];
  let [at, to] = [0, 0];
  while (at < old.length || to < now.length) {
    const [before, after] = [old[at], now[to]];
    if (before !== undefined && before === after && lengths !== undefined) {
      lines.push({ kind: 'same', text: before });
      at += 1;
      to += 1;
    } else if (before !== undefined && (after === undefined || lengthAt(lengths, at + 1, to) >= lengthAt(lengths, at, to + 1))) {
      lines.push({ kind: 'removed', text: before });
      at += 1;
    } else {
      lines.push({ kind: 'added', text: after ?? '' });
      to += 1;
    }
  }
  return lines;
}

type Lengths = readonly Uint32Array[] | undefined;

/** By their first lines, how many lines the rests of both share in order. */
function sharedLengths(old: readonly string[], now: readonly string[]): readonly Uint32Array[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let at = old.length - 1; at >= 0; at -= 1) {
    const [row, next] = [lengths[at], lengths[at + 1]];
    if (row === undefined || next === undefined) continue;
    for (let to = now.length - 1; to >= 0; to -= 1) {
      row[to] = old[at] === now[to] ? (next[to + 1] ?? 0) + 1 : Math.max(next[to] ?? 0, row[to + 1] ?? 0);
    }
  }
  return lengths;
}

function lengthAt(lengths: Lengths, at: number, to: number): number {
  return lengths?.[at]?.[to] ?? 0;
}

function sharedAtStart(old: readonly string[], now: readonly string[]): number {
  const other = old.findIndex((line, at) => line !== now[at]);
  return other === -1 ? old.length : other;
}

function sharedAtEnd(old: readonly string[], now: readonly string[]): number {
  let count = 0;
  while (count < Math.min(old.length, now.length) && old.at(-1 - count) === now.at(-1 - count)) count += 1;
  return count;
}
