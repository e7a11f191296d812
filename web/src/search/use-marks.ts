import { useEffect, useMemo, useRef, useState } from 'react';
import { type Conversation, showing, shownTurns } from '../conversation/conversation.ts';
import { wordsOf } from '../conversation/head-words.ts';
import { usePage } from '../page/page.tsx';
import { bestTurn } from './best-turn.ts';
import { findRanges } from './find-ranges.ts';
import { toWordPattern } from './word-pattern.ts';

/** Names of highlights in the style of the marks. */
const [everywhere, here] = ['found', 'found-here'];
/** What comes near the view is drawn late, and moves what is below. */
const settleMs = 2000;
const again = 100;

interface Marks {
  readonly count: number;
  /** Which one is in view, from 0 on. */
  readonly at: number;
  readonly goTo: (at: number) => void;
}

/** Marks the words in what is drawn of a conversation, and brings the first place into view where most of them stand. */
export function useMarks(conversation: Conversation, query: string): Marks {
  const { library } = usePage();
  const words = useMemo(() => wordsOf(query), [query]);
  const ranges = useRef<readonly Range[]>([]);
  const [count, setCount] = useState(0);
  const [at, setAt] = useState(0);
  const { id } = conversation;
  const latest = useRef(conversation);
  latest.current = conversation;

  const bring = (next: number): void => {
    const range = ranges.current[next];
    if (range === undefined) return;
    highlight(here, [range]);
    range.startContainer.parentElement?.scrollIntoView({ block: 'center' });
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each conversation and each search
  useEffect(() => {
    const [best, root, pattern] = [bestTurn(latest.current, words), document.querySelector('.turns'), toWordPattern(words)];
    if (best === undefined || root === null || pattern === undefined) return setCount(0);
    if (!shownTurns(latest.current).some((turn) => turn.id === best.id)) library.change(id, (now) => showing(now, best));
    let isSettling = true;
    const settled = (): void => {
      isSettling = false;
    };
    const look = (): void => {
      ranges.current = findRanges(root, pattern);
      highlight(everywhere, ranges.current);
      setCount(ranges.current.length);
      if (!isSettling) return;
      const place = shownTurns(latest.current).findIndex((turn) => turn.id === best.id);
      const article = root.children[place];
      const first = Math.max(
        0,
        article === undefined ? 0 : ranges.current.findIndex((range) => article.contains(range.startContainer)),
      );
      setAt(first);
      bring(first);
    };
    const lookAgain = onceIn(again, look);
    const watch = new MutationObserver(lookAgain.call);
    watch.observe(root, { childList: true, characterData: true, subtree: true });
    const timer = setTimeout(settled, settleMs);
    for (const event of readerEvents) addEventListener(event, settled, { passive: true });
    look();
    return () => {
      watch.disconnect();
      lookAgain.cancel();
      clearTimeout(timer);
      for (const event of readerEvents) removeEventListener(event, settled);
      for (const name of [everywhere, here]) highlight(name, []);
    };
  }, [id, words]);

  const goTo = (next: number): void => {
    setAt(next);
    bring(next);
  };
  return { count, at, goTo };
}

/** Whoever does any of these goes where they like. */
const readerEvents = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

/** Browsers without highlights mark nothing; the place is brought into view all the same. */
function highlight(name: string, ranges: readonly Range[]): void {
  if (!('highlights' in CSS)) return;
  if (ranges.length === 0) CSS.highlights.delete(name);
  else CSS.highlights.set(name, new Highlight(...ranges));
}

function onceIn(ms: number, act: () => void): { readonly call: () => void; readonly cancel: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    call() {
      timer ??= setTimeout(() => {
        timer = undefined;
        act();
      }, ms);
    },
    cancel: () => clearTimeout(timer),
  };
}
