import { memo } from 'react';
import { branchesOf, type Conversation, type Turn, versionsOf } from '../conversation/conversation.ts';
import { Icon } from '../parts/icon.tsx';
import { useWords } from '../words/words.tsx';
import { QuestionView } from './question-view.tsx';
import { ReplyView } from './reply-view.tsx';
import type { Said } from './said.ts';
import { useStickyEnd } from './use-sticky-end.ts';
import './thread.css';
import './turns.css';

interface ThreadProps {
  readonly conversation: Conversation;
  readonly turns: readonly Turn[];
  readonly say: (said: Said) => void;
}

/** Turns at the end that are drawn before anybody looks. */
const drawnTurns = 6;

/** The turns that are shown. The view stays at the end while an answer grows, unless the reader went elsewhere. */
export function Thread({ conversation, turns, say }: ThreadProps) {
  const words = useWords();
  const branches = branchesOf(conversation);
  const { scroller, list, isAtEnd, toEnd } = useStickyEnd(conversation.id, runningIn(turns));
  return (
    <div className="thread-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard */}
      <section className={isAtEnd ? 'thread' : 'thread reading'} ref={scroller} aria-label={words.conversation} tabIndex={0}>
        <div className="turns" ref={list}>
          {turns.map((turn, at) => (
            <TurnView
              key={turn.id}
              {...{ turn, conversationId: conversation.id, next: turns[at + 1] }}
              say={at === turns.length - 1 ? say : undefined}
              isLate={at < turns.length - drawnTurns}
              branches={versionsOf(branches.get(turn.parent) ?? [], turn)
                .map(({ id }) => id)
                .join(' ')}
            />
          ))}
        </div>
      </section>
      {!isAtEnd && (
        <button type="button" className="to-latest" onClick={toEnd}>
          <Icon name="down" />
          {words.toLatest}
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
  readonly say: ((said: Said) => void) | undefined;
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
function runningIn(turns: readonly Turn[]): string {
  const last = turns.at(-1);
  return last?.kind === 'reply' && last.state === 'running' ? last.id : '';
}
