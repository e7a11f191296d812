import { useEffect, useMemo, useRef, useState } from 'react';
import { findBest } from '#base/text/create-excerpt.ts';
import { type Conversation, listVisibleTurns, type Turn, withVisibleTurn } from '../conversation/conversation.ts';
import { splitWords } from '../conversation/split-words.ts';
import { usePage } from '../page/page.tsx';
import { toWordPattern } from './word-pattern.ts';

/** Highlight names in the style sheet. */
const [everywhere, here] = ['found', 'found-here'];
/** Content near the view is drawn late and moves the content below it. */
const settleMs = 2000;
const updateAfterMs = 100;

interface Marks {
  readonly count: number;
  /** Zero-based index of the match in view. */
  readonly index: number;
  readonly goTo: (at: number) => void;
}

/** Highlights the words in a chat and scrolls to the first match in the turn with most of the words. */
export function useMarks(conversation: Conversation, query: string): Marks {
  const { library } = usePage();
  const words = useMemo(() => splitWords(query), [query]);
  const ranges = useRef<readonly Range[]>([]);
  const [count, setCount] = useState(0);
  const [at, setAt] = useState(0);
  const { id } = conversation;
  const latest = useRef(conversation);
  latest.current = conversation;

  const scrollTo = (next: number): void => {
    const range = ranges.current[next];
    if (range === undefined) return;
    highlight(here, [range]);
    range.startContainer.parentElement?.scrollIntoView({ block: 'center' });
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once per chat and search
  useEffect(() => {
    const [best, root, pattern] = [findBestTurn(latest.current, words), document.querySelector('.turns'), toWordPattern(words)];
    if (best === undefined || root === null || pattern === undefined) return setCount(0);
    if (!listVisibleTurns(latest.current).some((turn) => turn.id === best.id))
      library.change(id, (now) => withVisibleTurn(now, best));
    let isSettling = true;
    const settled = (): void => {
      isSettling = false;
    };
    const update = (): void => {
      ranges.current = findRanges(root, pattern);
      highlight(everywhere, ranges.current);
      setCount(ranges.current.length);
      if (!isSettling) return;
      const turnIndex = listVisibleTurns(latest.current).findIndex((turn) => turn.id === best.id);
      const article = root.children[turnIndex];
      const first = Math.max(
        0,
        article === undefined ? 0 : ranges.current.findIndex((range) => article.contains(range.startContainer)),
      );
      setAt(first);
      scrollTo(first);
    };
    const updateSoon = throttle(updateAfterMs, update);
    const watch = new MutationObserver(updateSoon.call);
    watch.observe(root, { childList: true, characterData: true, subtree: true });
    const timer = setTimeout(settled, settleMs);
    for (const event of readerEvents) addEventListener(event, settled, { passive: true });
    update();
    return () => {
      watch.disconnect();
      updateSoon.cancel();
      clearTimeout(timer);
      for (const event of readerEvents) removeEventListener(event, settled);
      for (const name of [everywhere, here]) highlight(name, []);
    };
  }, [id, words]);

  const goTo = (next: number): void => {
    setAt(next);
    scrollTo(next);
  };
  return { count, index: at, goTo };
}

/** After one of these events, the user controls the scroll position. */
const readerEvents = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

/** Browsers without the highlight API mark nothing, but still scroll to the match. */
function highlight(name: string, ranges: readonly Range[]): void {
  if (!('highlights' in CSS)) return;
  if (ranges.length === 0) CSS.highlights.delete(name);
  else CSS.highlights.set(name, new Highlight(...ranges));
}

function throttle(ms: number, act: () => void): { readonly call: () => void; readonly cancel: () => void } {
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

/** Returns the first turn with the highest number of different words, preferably a visible one. Undefined if no turn matches. */
function findBestTurn(conversation: Conversation, words: readonly string[]): Turn | undefined {
  const visibleTurns = listVisibleTurns(conversation);
  const ids = new Set(visibleTurns.map(({ id }) => id));
  const turns = [...visibleTurns, ...Object.values(conversation.turns).filter(({ id }) => !ids.has(id))];
  return turns[
    findBest(
      turns.map(({ text }) => text),
      words,
    )
  ];
}

const maxRanges = 1000;
/** Message texts, without names, buttons, and notes. */
const textSelector = '.markdown, .question-text';

/** Finds the matches in reading order. */
function findRanges(root: Element, pattern: RegExp): readonly Range[] {
  const ranges: Range[] = [];
  const blocks = [...root.querySelectorAll(textSelector)].filter((block) => block.parentElement?.closest(textSelector) === null);
  for (const block of blocks) {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null && ranges.length < maxRanges; node = walker.nextNode()) {
      for (const { index, 0: word } of (node.nodeValue ?? '').matchAll(pattern)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
}
