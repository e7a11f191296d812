import { useEffect, useLayoutEffect, useRef, useState } from 'react';

const nearEndPixels = 80;
/** Of an answer, what it says or is doing. */
const parts = ['stages', 'thoughts', 'markdown', 'waiting', 'fault'];
/** Below the text of an answer: what can be done with it. */
const actionsPixels = 56;

/** Follows the answer while it grows, until the reader scrolls up; a new answer brings them back. */
export function useStickyEnd(conversationId: string, running: string) {
  const scroller = useRef<HTMLElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const isSticky = useRef(true);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const toEnd = (): void => {
    isSticky.current = true;
    setIsAtEnd(true);
    if (scroller.current !== null) scroller.current.scrollTop = restOf(scroller.current);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effects are for these changes
  useLayoutEffect(toEnd, [conversationId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useLayoutEffect(() => (running === '' ? undefined : toEnd()), [running]);
  useEffect(() => {
    const [outer, inner] = [scroller.current, list.current];
    if (outer === null || inner === null) return;
    let top = outer.scrollTop;
    const look = (): void => {
      const past = outer.scrollTop - restOf(outer);
      // What is laid out late moves the end away; only the reader moves up, or on to what is behind the answer.
      if (Math.abs(past) < nearEndPixels) isSticky.current = true;
      else if (past > 0 || outer.scrollTop < top) isSticky.current = false;
      top = outer.scrollTop;
      setIsAtEnd(isSticky.current || past > 0);
    };
    const grown = new ResizeObserver(() => {
      if (isSticky.current) outer.scrollTop = restOf(outer);
    });
    outer.addEventListener('scroll', look, { passive: true });
    grown.observe(inner);
    return () => {
      outer.removeEventListener('scroll', look);
      grown.disconnect();
    };
  }, []);
  return { scroller, list, isAtEnd, toEnd };
}

/**
 * Where the view rests: at the end, but never past the last question, unless its answer is longer than the view; then at the end
 * of its text. Sources and forms behind it come from below, and are scrolled to by the reader.
 */
function restOf(outer: HTMLElement): number {
  const end = outer.scrollHeight - outer.clientHeight;
  const [answer, question] = [...(outer.firstElementChild?.children ?? [])].slice(-2).reverse();
  if (question === undefined || answer?.className !== 'reply') return end;
  const from = outer.getBoundingClientRect().top - outer.scrollTop;
  const begin = question.getBoundingClientRect().top - from;
  const said = [...answer.children].findLast(({ classList }) => parts.some((part) => classList.contains(part)));
  const textEnd = said === undefined ? 0 : said.getBoundingClientRect().bottom - from + actionsPixels - outer.clientHeight;
  return Math.min(end, Math.max(begin, textEnd));
}
