import { useEffect, useMemo, useRef, useState } from 'react';
import { findBest } from '#base/text/truncate.ts';
import { leaveEndEvent } from '../chat/leave-end.ts';
import { type Conversation, listTurnsUpTo, listVisibleTurns, type Turn, withVisibleTurn } from '../conversation/conversation.ts';
import { splitWords } from '../conversation/split-words.ts';
import { searchGerman } from '../locales/de/chat/search.ts';
import { type SearchStrings, searchEnglish } from '../locales/en/chat/search.ts';
import { searchSpanish } from '../locales/es/chat/search.ts';
import { searchFrench } from '../locales/fr/chat/search.ts';
import { Icon, IconButton, TextButton } from '../parts/icon.tsx';
import { usePage } from '../shell/page.tsx';
import { useLocalizedStrings } from '../strings/strings.tsx';
import { toWordPattern } from './word-pattern.ts';
import './match-bar.css';

interface MatchBarProps {
  readonly conversation: Conversation;
  /** Search text. */
  readonly query: string;
}

/** Counts the matches in a chat, highlights them, and moves between them. */
export function MatchBar({ conversation, query }: MatchBarProps) {
  const strings = useSearchStrings();
  const { go } = usePage();
  const { count, index, goTo, showVersion } = useMatches(conversation, query);
  const renderStepButton = (direction: 'up' | 'down', name: string, offset: number) => (
    <IconButton
      icon="down"
      className={direction}
      label={name}
      disabled={count < 2}
      onClick={() => goTo((index + offset + count) % count)}
    />
  );
  return (
    <search className="match-bar small" aria-label={strings.inConversation}>
      <Icon name="search" />
      <span className="match-query">{query}</span>
      <span className="soft" role="status">
        {count > 0 ? strings.position(index + 1, count) : showVersion ? strings.inOtherVersion : strings.notInText}
      </span>
      {showVersion && <TextButton {...{ className: 'button slim', onClick: showVersion }}>{strings.showVersion}</TextButton>}
      {renderStepButton('up', strings.earlier, -1)}
      {renderStepButton('down', strings.later, 1)}
      <IconButton icon="close" label={strings.removeHighlights} onClick={() => go({ at: 'conversation', id: conversation.id })} />
    </search>
  );
}

/** Returns the strings of the search, which are in a separate chunk that only the search loads. */
function useSearchStrings(): SearchStrings {
  return useLocalizedStrings({ en: searchEnglish, de: searchGerman, fr: searchFrench, es: searchSpanish });
}

/** Highlight names in the style sheet. */
const [matchHighlight, currentHighlight] = ['match', 'current-match'];
/** Time until the content near the view is drawn. Content that is drawn late moves the content below it. */
const settleMs = 2000;
const updateAfterMs = 100;

interface Matches {
  readonly count: number;
  /** Zero-based index of the match in view. */
  readonly index: number;
  readonly goTo: (index: number) => void;
  /** Shows the version that matches, if no visible one does. */
  readonly showVersion: (() => void) | undefined;
}

/**
 * Highlights the words in a chat and scrolls to the first match in the turn with most of the words. Until the search ends, shows the
 * version of this turn.
 */
function useMatches(conversation: Conversation, query: string): Matches {
  const { library } = usePage();
  const words = useMemo(() => splitWords(query), [query]);
  const ranges = useRef<readonly Range[]>([]);
  const [count, setCount] = useState(0);
  const [index, setIndex] = useState(0);
  const [attempt, setAttempt] = useState(0);
  const { id } = conversation;
  const latest = useRef(conversation);
  latest.current = conversation;

  const scrollTo = (next: number): void => {
    const range = ranges.current[next];
    if (range === undefined) return;
    highlight(currentHighlight, [range]);
    const element = range.startContainer.parentElement;
    element?.dispatchEvent(new Event(leaveEndEvent, { bubbles: true }));
    element?.scrollIntoView({ block: 'center' });
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once per chat, search, and attempt
  useEffect(() => {
    const [best, root, pattern] = [findBestTurn(latest.current, words), document.querySelector('.turns'), toWordPattern(words)];
    if (best === undefined || root === null || pattern === undefined) return setCount(0);
    const chosenVersions = latest.current.shown;
    const isHidden = !listVisibleTurns(latest.current).includes(best);
    const path = isHidden ? listTurnsUpTo(latest.current, best.id) : [];
    const foundVersions = path.reduce(withVisibleTurn, latest.current).shown;
    if (isHidden) library.change(id, (current) => ({ ...current, shown: foundVersions }), 'unsaved');
    let isSettling = true;
    const endSettling = (): void => {
      isSettling = false;
    };
    const update = (): void => {
      ranges.current = findRanges(root, pattern);
      highlight(matchHighlight, ranges.current);
      setCount(ranges.current.length);
      if (!isSettling) return;
      const turnIndex = listVisibleTurns(latest.current).findIndex((turn) => turn.id === best.id);
      const article = root.children[turnIndex];
      const first = Math.max(
        0,
        article === undefined ? 0 : ranges.current.findIndex((range) => article.contains(range.startContainer)),
      );
      setIndex(first);
      scrollTo(first);
    };
    const updateSoon = throttle(updateAfterMs, update);
    const observer = new MutationObserver(updateSoon.call);
    observer.observe(root, { childList: true, characterData: true, subtree: true });
    const timer = setTimeout(endSettling, settleMs);
    for (const event of scrollEvents) addEventListener(event, endSettling, { passive: true });
    update();
    return () => {
      observer.disconnect();
      updateSoon.cancel();
      clearTimeout(timer);
      for (const event of scrollEvents) removeEventListener(event, endSettling);
      for (const name of [matchHighlight, currentHighlight]) highlight(name, []);
      // The search shows another version temporarily. The chosen version returns, unless the user continued or chose again.
      const restore = (now: Conversation) => (now.shown === foundVersions ? { ...now, shown: chosenVersions } : now);
      if (isHidden) library.change(id, restore);
      latest.current = restore(latest.current);
    };
  }, [id, words, attempt]);

  const goTo = (next: number): void => {
    setIndex(next);
    scrollTo(next);
  };
  const best = useMemo(() => (count === 0 ? findBestTurn(conversation, words) : undefined), [conversation, words, count]);
  const isHidden = best !== undefined && !listVisibleTurns(conversation).includes(best);
  return { count, index, goTo, showVersion: isHidden ? () => setAttempt(attempt + 1) : undefined };
}

/** After one of these events, the user controls the scroll position. */
const scrollEvents = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

/** Highlights ranges. Browsers without the highlight API only scroll to the match. */
function highlight(name: string, ranges: readonly Range[]): void {
  if (!('highlights' in CSS)) return;
  if (ranges.length === 0) CSS.highlights.delete(name);
  else CSS.highlights.set(name, new Highlight(...ranges));
}

function throttle(ms: number, callback: () => void): { readonly call: () => void; readonly cancel: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    call() {
      timer ??= setTimeout(() => {
        timer = undefined;
        callback();
      }, ms);
    },
    cancel: () => clearTimeout(timer),
  };
}

/** Returns the turn that contains the most of the words, preferably a visible turn. Returns undefined if no turn matches. */
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
