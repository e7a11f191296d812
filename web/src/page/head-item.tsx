import { type KeyboardEvent, Suspense, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Head } from '../conversation/database.ts';
import { isComposing } from '../parts/is-composing.ts';
import { LaterDialog, lazyView } from '../parts/lazy-view.tsx';
import { useWords } from '../words/words.tsx';
import { type HeadAct, HeadMenu, useArranging } from './head-menu.tsx';
import { usePage } from './page.tsx';
import { toHash } from './place.ts';

const TagsDialog = lazyView(() => import('./tags-dialog.tsx').then(({ TagsDialog: view }) => view));

const ExcerptLine = lazyView(() => import('../search/excerpt-line.tsx').then(({ ExcerptLine: view }) => view));

interface HeadItemProps {
  readonly head: Head;
  /** What is searched for; '' for nothing. */
  readonly query: string;
  readonly excerpt: string | undefined;
}

/** One conversation of the list: the way to it, what is going on in it, and what can be done with it. */
export function HeadItem({ head, query, excerpt }: HeadItemProps) {
  const words = useWords();
  const { place, library, go, offerUndo } = usePage();
  const isHere = place.at === 'conversation' && place.id === head.id;
  const title = head.title || words.untitled;
  const standing = useStanding(head.id, isHere);
  const [act, setAct] = useState<HeadAct>();
  const link = useRef<HTMLAnchorElement>(null);
  const remove = (): void => {
    const { id } = head;
    library.setAside(id);
    offerUndo({
      said: words.isDeleted(title),
      settle: () => library.remove(id),
      undo() {
        library.bringBack(id);
        if (isHere) go({ at: 'conversation', id });
      },
    });
    if (isHere) go({ at: 'new' });
    document.querySelector<HTMLElement>('.new-conversation')?.focus();
  };
  const actByKey = (event: KeyboardEvent): void => {
    if (event.key === 'F2') setAct('rename');
    else if (event.key === 'Delete') remove();
    else return;
    event.preventDefault();
  };
  if (act === 'rename') {
    const end = (): void => {
      setAct(undefined);
      requestAnimationFrame(() => link.current?.focus());
    };
    return <Renaming {...{ head, end }} />;
  }
  return (
    <li className="head">
      <a
        {...{ ref: link, title, onKeyDown: actByKey }}
        href={toHash({ at: 'conversation', id: head.id, ...(query !== '' && { find: query }) })}
        aria-current={isHere ? 'page' : undefined}
      >
        {title}
        {excerpt !== undefined && (
          <Suspense fallback={null}>
            <ExcerptLine {...{ text: excerpt, query }} />
          </Suspense>
        )}
      </a>
      {standing !== 'still' && (
        <span
          className={`head-standing ${standing}`}
          role="img"
          aria-label={standing === 'answering' ? words.answering : words.answeredUnseen}
        />
      )}
      <HeadMenu {...{ head, title }} choose={(chosen) => (chosen === 'delete' ? remove() : setAct(chosen))} />
      {act === 'tag' && (
        <LaterDialog close={() => setAct(undefined)}>
          <TagsDialog {...{ head, title }} close={() => setAct(undefined)} />
        </LaterDialog>
      )}
    </li>
  );
}

function Renaming({ head, end }: { readonly head: Head; readonly end: () => void }) {
  const words = useWords();
  const arrange = useArranging(head);
  const [title, setTitle] = useState(head.title);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  const save = (): void => {
    const next = title.trim().replace(/\s+/g, ' ');
    if (next !== '' && next !== head.title) void arrange({ title: next });
    end();
  };
  return (
    <li className="head">
      <input
        {...{ ref: input, className: 'head-name', value: title, maxLength: 200, 'aria-label': words.renameTo(head.title) }}
        onChange={({ target }) => setTitle(target.value)}
        onBlur={save}
        onKeyDown={(event) => {
          if (isComposing(event.nativeEvent)) return;
          if (event.key === 'Enter') save();
          if (event.key !== 'Escape') return;
          event.nativeEvent.stopImmediatePropagation();
          end();
        }}
      />
    </li>
  );
}

/** Whether an answer is coming into a conversation, or came while the user was elsewhere. */
function useStanding(id: string, isHere: boolean): 'still' | 'answering' | 'answered' {
  const { library, asking } = usePage();
  const isAnswering = useSyncExternalStore(library.subscribe, () => asking.isAnswering(id));
  const [isUnseen, setIsUnseen] = useState(false);
  useEffect(() => {
    if (isHere) setIsUnseen(false);
    else if (isAnswering) return () => setIsUnseen(true);
    return undefined;
  }, [isHere, isAnswering]);
  if (isAnswering) return 'answering';
  return isUnseen ? 'answered' : 'still';
}
