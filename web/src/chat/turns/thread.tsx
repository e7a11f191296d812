import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type Conversation, groupBranches, listVersions, type Turn, type UserMessage } from '../../conversation/conversation.ts';
import { Icon } from '../../parts/icon.tsx';
import { useStrings } from '../../strings/strings.tsx';
import { focusMessage } from '../focus-message.ts';
import { leaveEndEvent } from '../leave-end.ts';
import { QuestionView } from './question-view.tsx';
import { ReplyView } from './reply-view.tsx';
import './thread.css';

interface ThreadProps {
  readonly conversation: Conversation;
  readonly turns: readonly Turn[];
  readonly sendMessage: (message: UserMessage) => void;
}

/** Number of turns at the end that are rendered immediately. */
const eagerTurns = 6;

/** The visible turns. The view stays at the end while an answer grows, unless the user scrolls away. */
export function Thread({ conversation, turns, sendMessage }: ThreadProps) {
  const strings = useStrings();
  const branches = groupBranches(conversation);
  const lastId = turns.at(-1)?.id ?? '';
  const { scroller, list, isAtEnd, scrollToEnd, hasControlsBelow, focusControls } = useStickyEnd(conversation, lastId);
  const jumpToLatest = (): void => {
    // The button disappears.
    focusMessage();
    scrollToEnd();
  };
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
              isDeferred={index < turns.length - eagerTurns}
              versionIds={listVersions(branches.get(turn.parent) ?? [], turn)
                .map(({ id }) => id)
                .join(' ')}
            />
          ))}
        </div>
      </section>
      {(!isAtEnd || hasControlsBelow) && (
        <button type="button" className="to-latest" onClick={isAtEnd ? focusControls : jumpToLatest}>
          <Icon name="down" />
          {isAtEnd ? strings.toOptions : strings.toLatest}
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
  /** IDs of all versions of the turn, separated by spaces, so that equal lists are equal props. */
  readonly versionIds: string;
  /** Whether drawing waits until the turn comes near the view. */
  readonly isDeferred: boolean;
}

/** Drawn again only if its content changes, so that long chats stay fast. */
const TurnView = memo(function TurnView({ turn, versionIds, next, ...viewProps }: TurnViewProps) {
  const ids = versionIds.split(' ');
  if (turn.kind === 'question')
    return <QuestionView question={turn} versionIds={ids} conversationId={viewProps.conversationId} />;
  const nextQuestion = next?.kind === 'question' ? next : undefined;
  return <ReplyView reply={turn} versionIds={ids} nextQuestion={nextQuestion} {...viewProps} />;
});

const nearEndPixels = 80;
/** Classes of the parts of an answer. */
const contentClasses = ['stages', 'thoughts', 'markdown', 'waiting', 'answer-error'];
/** Height of the actions below an answer. */
const actionsPixels = 56;

/** Follows a growing answer until the user scrolls up. A new question or answer restarts this. */
function useStickyEnd({ id: conversationId, turns }: Conversation, lastId: string) {
  const scroller = useRef<HTMLElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const isSticky = useRef(true);
  const knownIds = useRef<ReadonlySet<string>>(new Set());
  const [isAtEnd, setIsAtEnd] = useState(true);
  const [hasControlsBelow, setHasControlsBelow] = useState(false);
  const scrollToEnd = (): void => {
    isSticky.current = true;
    setIsAtEnd(true);
    if (scroller.current !== null) scroller.current.scrollTop = computeScrollEnd(scroller.current);
  };
  const focusControls = (): void => {
    const controls = findControls(list.current);
    controls?.scrollIntoView({ block: 'nearest' });
    controls?.querySelector<HTMLElement>('input, select, textarea, button')?.focus({ preventScroll: true });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effects react to these changes
  useLayoutEffect(scrollToEnd, [conversationId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useLayoutEffect(() => {
    // A known ID means that the user switched to another version. The reply state is not sufficient, because a very short answer
    // ends before it is rendered.
    const isNew = !knownIds.current.has(lastId);
    knownIds.current = new Set(Object.keys(turns));
    if (isNew) scrollToEnd();
  }, [lastId]);
  useEffect(() => {
    const [outer, inner] = [scroller.current, list.current];
    if (outer === null || inner === null) return;
    let top = outer.scrollTop;
    let height = outer.scrollHeight;
    const updateControlsBelow = (): void => {
      const [view, controls] = [outer, findControls(inner)].map((element) => element?.getBoundingClientRect());
      if (view === undefined) return;
      const isBelow = controls !== undefined && controls.bottom > view.bottom + 1 && controls.top > view.bottom - actionsPixels;
      setHasControlsBelow(isBelow);
    };
    const onScroll = (): void => {
      const offset = outer.scrollTop - computeScrollEnd(outer);
      // If the content shrinks, the browser scrolls up, not the user.
      const isClamped = outer.scrollHeight < height;
      height = outer.scrollHeight;
      // A new layout can move the end. But a position that decreased, or that is past the end, comes from the user.
      if (Math.abs(offset) < nearEndPixels) isSticky.current = true;
      else if (!isClamped && (offset > 0 || outer.scrollTop < top)) isSticky.current = false;
      top = outer.scrollTop;
      setIsAtEnd(isSticky.current || offset > 0);
      updateControlsBelow();
    };
    const resizeObserver = new ResizeObserver(() => {
      // While the user edits a turn, the view stays there.
      if (isSticky.current && inner.querySelector('.editor') === null) outer.scrollTop = computeScrollEnd(outer);
      updateControlsBelow();
    });
    const onLeaveEnd = (): void => {
      isSticky.current = false;
    };
    outer.addEventListener('scroll', onScroll, { passive: true });
    outer.addEventListener(leaveEndEvent, onLeaveEnd);
    // The view shrinks when the message box grows, for example when the context usage appears.
    for (const element of [outer, inner]) resizeObserver.observe(element);
    return () => {
      outer.removeEventListener('scroll', onScroll);
      outer.removeEventListener(leaveEndEvent, onLeaveEnd);
      resizeObserver.disconnect();
    };
  }, []);
  return { scroller, list, isAtEnd, scrollToEnd, hasControlsBelow, focusControls };
}

/** Returns the controls of the last answer, if it has any. */
function findControls(list: HTMLElement | null): HTMLElement | undefined {
  return list?.lastElementChild?.querySelector<HTMLElement>('.controls') ?? undefined;
}

/**
 * Returns the scroll position to follow: the end, but not past the last question. For an answer longer than the view, it is the
 * end of the text with the notes and actions directly below, unless the rest, such as sources, is less than `nearEndPixels` high.
 */
function computeScrollEnd(outer: HTMLElement): number {
  const end = outer.scrollHeight - outer.clientHeight;
  const [answer, question] = [...(outer.firstElementChild?.children ?? [])].slice(-2).reverse();
  if (question === undefined || answer?.className !== 'reply') return end;
  const contentTop = outer.getBoundingClientRect().top - outer.scrollTop;
  const start = question.getBoundingClientRect().top - contentTop;
  let content: Element | null | undefined = [...answer.children].findLast(({ classList }) =>
    contentClasses.some((part) => classList.contains(part)),
  );
  while (content?.nextElementSibling?.matches('.note, .actions')) content = content.nextElementSibling;
  const textEnd = content == null ? 0 : content.getBoundingClientRect().bottom - contentTop + actionsPixels - outer.clientHeight;
  if (textEnd < start) return Math.min(end, start);
  // Actions may replace a placeholder of the same height without a resize, so a low rest counts as part of the answer.
  return end - textEnd < nearEndPixels ? end : textEnd;
}
