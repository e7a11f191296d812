import { useEffect, useState, useSyncExternalStore } from 'react';
import type { Head } from '../conversation/database.ts';
import { Icon } from '../parts/icon.tsx';
import { QuestionDialog } from '../parts/question-dialog.tsx';
import { useWords } from '../words/words.tsx';
import { usePage } from './page.tsx';
import { toHash } from './place.ts';

/** Conversations by day, each with what is going on in it. */
export function HeadList({ heads, query }: { readonly heads: readonly Head[]; readonly query: string }) {
  const words = useWords();
  if (heads.length === 0) {
    return (
      <p className="sidebar-empty soft small">{query.trim() === '' ? words.noConversations : words.nothingFound(query.trim())}</p>
    );
  }
  const midnight = new Date().setHours(0, 0, 0, 0);
  const groups = [
    { name: words.today, items: heads.filter(({ updatedAtMs }) => updatedAtMs >= midnight) },
    { name: words.earlier, items: heads.filter(({ updatedAtMs }) => updatedAtMs < midnight) },
  ];
  return (
    <div className="heads">
      {groups.map(
        ({ name, items }) =>
          items.length > 0 && (
            <section key={name} aria-label={name}>
              <h2 className="overline">{name}</h2>
              <ul>
                {items.map((head) => (
                  <HeadItem key={head.id} head={head} />
                ))}
              </ul>
            </section>
          ),
      )}
    </div>
  );
}

function HeadItem({ head }: { readonly head: Head }) {
  const words = useWords();
  const { place, library, go } = usePage();
  const isHere = place.at === 'conversation' && place.id === head.id;
  const title = head.title || words.untitled;
  const standing = useStanding(head.id, isHere);
  const [isDeleting, setIsDeleting] = useState(false);
  const remove = (): void => {
    library.remove(head.id);
    if (isHere) go({ at: 'new' });
    document.querySelector<HTMLElement>('.new-conversation')?.focus();
  };
  return (
    <li className="head">
      <a href={toHash({ at: 'conversation', id: head.id })} aria-current={isHere ? 'page' : undefined}>
        {title}
      </a>
      {standing !== 'still' && (
        <span
          className={`head-standing ${standing}`}
          role="img"
          aria-label={standing === 'answering' ? words.answering : words.answeredUnseen}
        />
      )}
      <button
        type="button"
        className="icon-button head-delete"
        aria-label={words.deleteConversation(title)}
        title={words.deleteForGood}
        onClick={() => setIsDeleting(true)}
      >
        <Icon name="trash" />
      </button>
      {isDeleting && (
        <QuestionDialog
          {...{ question: words.deleteQuestion(title), answer: words.deleteForGood, act: remove }}
          close={() => setIsDeleting(false)}
        />
      )}
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
