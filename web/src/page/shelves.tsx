import { useEffect } from 'react';
import { useWords } from '../words/words.tsx';
import { useHeads } from './page.tsx';
import { type Shelf, tagsOf } from './shelf.ts';

interface ShelvesProps {
  readonly shelf: Shelf;
  readonly choose: (shelf: Shelf) => void;
}

/** Tags and the archive, to list only what is in one; nothing before there is any. */
export function Shelves({ shelf, choose }: ShelvesProps) {
  const words = useWords();
  const heads = useHeads();
  const tags = tagsOf(heads);
  const isArchive = heads.some(({ archived }) => archived === true);
  const isGone = typeof shelf === 'object' ? !tags.includes(shelf.tag) : shelf === 'archived' && !isArchive;
  useEffect(() => {
    if (isGone) choose('all');
  }, [isGone, choose]);
  if (tags.length === 0 && !isArchive) return null;
  const shelves: readonly [string, Shelf, boolean][] = [
    ...tags.map((tag) => [tag, { tag }, typeof shelf === 'object' && shelf.tag === tag] as [string, Shelf, boolean]),
    ...(isArchive ? [[words.archived, 'archived', shelf === 'archived'] as [string, Shelf, boolean]] : []),
  ];
  return (
    <div {...{ className: 'shelves', role: 'group', 'aria-label': words.showOnly }}>
      {shelves.map(([name, each, isChosen]) => (
        <button
          key={typeof each === 'object' ? `tag ${name}` : each}
          {...{ type: 'button', className: 'button slim' }}
          aria-pressed={isChosen}
          onClick={() => choose(isChosen ? 'all' : each)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
