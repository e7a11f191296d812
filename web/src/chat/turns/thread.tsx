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

/** Number of turns at the end that are drawn immediately. */
const drawnTurns = 6;

/** The visible turns. The view stays at the end while an answer grows, unless the user scrolls away. */
export function Thread({ conversation, turns, sendMessage }: ThreadProps) {
  const strings = useStrings();
  const branches = groupBranches(conversation);
  const { scroller, list, isAtEnd, toEnd } = useStickyEnd(conversation.id, findRunningId(turns));
  return (
    <div className="thread-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard */}
      <section className={isAtEnd ? 'thread' : 'thread reading'} ref={scroller} aria-label={strings.conversation} tabIndex={0}>
        <div className="turns" ref={list}>
          {turns.map((turn, index) => (
            <TurnView
              key={turn.id}
              {...{ turn, conversationId: conversation.id, next: turns[index + 1] }}
              sendMessage={index === turns.length - 1 ? sendMessage : undefined}
              isLate={index < turns.length - drawnTurns}
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
  /** The next turn, if any. */
  readonly next: Turn | undefined;
  /** Set only for the last turn, because only its controls can still be used. */
  readonly sendMessage: ((message: UserMessage) => void) | undefined;
  /** IDs of all versions of the turn. */
  readonly branches: string | undefined;
  /** Whether drawing waits until the turn comes near the view. */
  readonly isLate: boolean;
}

/** Drawn again only if its content changes, so that long chats stay fast. */
const TurnView = memo(function TurnView({ turn, branches = '', next, ...rest }: TurnViewProps) {
  const ids = branches.split(' ');
  if (turn.kind === 'question') return <QuestionView question={turn} branches={ids} conversationId={rest.conversationId} />;
  const answered = next?.kind === 'question' ? next : undefined;
  return <ReplyView reply={turn} branches={ids} answered={answered} {...rest} />;
});

/** Returns the ID of the answer in progress, or ''. */
function findRunningId(turns: readonly Turn[]): string {
  const last = turns.at(-1);
  return last?.kind === 'reply' && last.state === 'running' ? last.id : '';
}

const nearEndPixels = 80;
/** Classes of the parts of an answer. */
const parts = ['stages', 'thoughts', 'markdown', 'waiting', 'fault'];
/** Height of the actions below an answer. */
const actionsPixels = 56;

/** Follows a growing answer until the user scrolls up. A new answer restarts this. */
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effects react to these changes
  useLayoutEffect(toEnd, [conversationId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useLayoutEffect(() => (running === '' ? undefined : toEnd()), [running]);
  useEffect(() => {
    const [outer, inner] = [scroller.current, list.current];
    if (outer === null || inner === null) return;
    let top = outer.scrollTop;
    const onScroll = (): void => {
      const offset = outer.scrollTop - computeScrollEnd(outer);
      // Late layout moves the end away. Only the user scrolls up, or down to the content after the answer.
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
 * Returns the scroll target: the end, but not past the last question. If the answer is longer than the view, it is the end of its
 * text. Sources and forms appear below it, and the user scrolls to them.
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
