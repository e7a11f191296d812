import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type Conversation, groupBranches, listVersions, type Turn } from '../../conversation/conversation.ts';
import { Icon } from '../../parts/icon.tsx';
import { useStrings } from '../../strings/strings.tsx';
import type { UserMessage } from '../user-message.ts';
import { QuestionView } from './question-view.tsx';
import { ReplyView } from './reply-view.tsx';
import './thread.css';
import './turns.css';

interface ThreadProps {
  readonly conversation: Conversation;
  readonly turns: readonly Turn[];
  readonly sendMessage: (message: UserMessage) => void;
}

/** Turns at the end that are drawn before anybody looks. */
const drawnTurns = 6;

/** The turns that are shown. The view stays at the end while an answer grows, unless the reader went elsewhere. */
export function Thread({ conversation, turns, sendMessage }: ThreadProps) {
  const strings = useStrings();
  const branches = groupBranches(conversation);
  const { scroller, list, isAtEnd, toEnd } = useStickyEnd(conversation.id, findRunningId(turns));
  return (
    <div className="thread-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard */}
      <section className={isAtEnd ? 'thread' : 'thread reading'} ref={scroller} aria-label={strings.conversation} tabIndex={0}>
        <div className="turns" ref={list}>
          {turns.map((turn, at) => (
            <TurnView
              key={turn.id}
              {...{ turn, conversationId: conversation.id, next: turns[at + 1] }}
              sendMessage={at === turns.length - 1 ? sendMessage : undefined}
              isLate={at < turns.length - drawnTurns}
              branches={listVersions(branches.get(turn.parent) ?? [], turn)
                .map(({ id }) => id)
                .join(' ')}
            />
          ))}
        </div>
      </section>
      {!isAtEnd && (
        <button type="button" className="to-latest" onClick={toEnd}>
          <Icon name="down" />
          {strings.toLatest}
        </button>
      )}
    </div>
  );
}

interface TurnViewProps {
  readonly turn: Turn;
  readonly conversationId: string;
  /** The turn behind it, if any. */
  readonly next: Turn | undefined;
  /** Given to the last turn alone: only its controls can still be used. */
  readonly sendMessage: ((message: UserMessage) => void) | undefined;
  /** Ids of all turns in its place. */
  readonly branches: string | undefined;
  /** Not drawn until it comes near the view. */
  readonly isLate: boolean;
}

/** Drawn anew only where something of it has changed: long conversations stay quick. */
const TurnView = memo(function TurnView({ turn, branches = '', next, ...rest }: TurnViewProps) {
  const ids = branches.split(' ');
  if (turn.kind === 'question') return <QuestionView question={turn} branches={ids} conversationId={rest.conversationId} />;
  const answered = next?.kind === 'question' ? next : undefined;
  return <ReplyView reply={turn} branches={ids} answered={answered} {...rest} />;
});

/** The id of the answer that is under way; '' for none. */
function findRunningId(turns: readonly Turn[]): string {
  const last = turns.at(-1);
  return last?.kind === 'reply' && last.state === 'running' ? last.id : '';
}

const nearEndPixels = 80;
/** Of an answer, what it says or is doing. */
const parts = ['stages', 'thoughts', 'markdown', 'waiting', 'fault'];
/** Below the text of an answer: what can be done with it. */
const actionsPixels = 56;

/** Follows the answer while it grows, until the reader scrolls up; a new answer brings them back. */
function useStickyEnd(conversationId: string, running: string) {
  const scroller = useRef<HTMLElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const isSticky = useRef(true);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const toEnd = (): void => {
    isSticky.current = true;
    setIsAtEnd(true);
    if (scroller.current !== null) scroller.current.scrollTop = computeScrollEnd(scroller.current);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effects are for these changes
  useLayoutEffect(toEnd, [conversationId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useLayoutEffect(() => (running === '' ? undefined : toEnd()), [running]);
  useEffect(() => {
    const [outer, inner] = [scroller.current, list.current];
    if (outer === null || inner === null) return;
    let top = outer.scrollTop;
    const onScroll = (): void => {
      const offset = outer.scrollTop - computeScrollEnd(outer);
      // What is laid out late moves the end away; only the reader moves up, or on to what is behind the answer.
      if (Math.abs(offset) < nearEndPixels) isSticky.current = true;
      else if (offset > 0 || outer.scrollTop < top) isSticky.current = false;
      top = outer.scrollTop;
      setIsAtEnd(isSticky.current || offset > 0);
    };
    const resizeObserver = new ResizeObserver(() => {
      if (isSticky.current) outer.scrollTop = computeScrollEnd(outer);
    });
    outer.addEventListener('scroll', onScroll, { passive: true });
    resizeObserver.observe(inner);
    return () => {
      outer.removeEventListener('scroll', onScroll);
      resizeObserver.disconnect();
    };
  }, []);
  return { scroller, list, isAtEnd, toEnd };
}

/**
 * Where the view rests: at the end, but never past the last question, unless its answer is longer than the view; then at the end
 * of its text. Sources and forms behind it come from below, and are scrolled to by the reader.
 */
function computeScrollEnd(outer: HTMLElement): number {
  const end = outer.scrollHeight - outer.clientHeight;
  const [answer, question] = [...(outer.firstElementChild?.children ?? [])].slice(-2).reverse();
  if (question === undefined || answer?.className !== 'reply') return end;
  const from = outer.getBoundingClientRect().top - outer.scrollTop;
  const start = question.getBoundingClientRect().top - from;
  const content = [...answer.children].findLast(({ classList }) => parts.some((part) => classList.contains(part)));
  const textEnd = content === undefined ? 0 : content.getBoundingClientRect().bottom - from + actionsPixels - outer.clientHeight;
  return Math.min(end, Math.max(start, textEnd));
}
