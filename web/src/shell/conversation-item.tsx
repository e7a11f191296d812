import { type KeyboardEvent, Suspense, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import { readDraft, toUnseenKey } from '../chat/composer/drafts.ts';
import type { ConversationSummary } from '../conversation/database.ts';
import { isComposing } from '../parts/is-composing.ts';
import { LazyDialog, lazyView } from '../parts/lazy-view.tsx';
import { useStrings } from '../strings/strings.tsx';
import { type ConversationAction, ConversationMenu, useUpdateAttributes } from './conversation-menu.tsx';
import { usePage } from './page.tsx';
import { formatRoute } from './route.ts';

const ProjectsDialog = lazyView(() => import('../chat-projects/projects-dialog.tsx').then(({ ProjectsDialog: view }) => view));

const ShareDialog = lazyView(() => import('../share/share-dialog.tsx').then(({ ShareDialog: view }) => view));

const ExcerptLine = lazyView(() => import('../search/excerpt-line.tsx').then(({ ExcerptLine: view }) => view));

interface ConversationItemProps {
  readonly summary: ConversationSummary;
  /** Search text, or ''. */
  readonly query: string;
  readonly excerpt: string | undefined;
}

/** A chat in the list with its state and its actions. */
export function ConversationItem({ summary, query, excerpt }: ConversationItemProps) {
  const strings = useStrings();
  const { route, library, go, offerUndo } = usePage();
  const isOpen = route.at === 'conversation' && route.id === summary.id;
  const title = summary.title || strings.untitled;
  const status = useReplyStatus(summary.id, isOpen);
  const [action, setAction] = useState<ConversationAction>();
  const link = useRef<HTMLAnchorElement>(null);
  const remove = (): void => {
    const { id } = summary;
    library.hide(id);
    offerUndo({
      message: strings.deletedMessage(title),
      onExpire: () => library.remove(id),
      undo() {
        library.restore(id);
        if (isOpen) go({ at: 'conversation', id });
      },
    });
    if (isOpen) go({ at: 'new' });
    document.querySelector<HTMLElement>('.new-conversation')?.focus();
  };
  const handleKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'F2') setAction('rename');
    else if (event.key === 'Delete') remove();
    else return;
    event.preventDefault();
  };
  if (action === 'rename') {
    const onEnd = (): void => {
      setAction(undefined);
      requestAnimationFrame(() => link.current?.focus());
    };
    return <RenameField {...{ summary, onEnd }} />;
  }
  return (
    <li className="conversation-item">
      <a
        {...{ ref: link, title, onKeyDown: handleKeyDown }}
        href={formatRoute({ at: 'conversation', id: summary.id, ...(query !== '' && { find: query }) })}
        aria-current={isOpen ? 'page' : undefined}
      >
        {title}
        {excerpt !== undefined && (
          <Suspense fallback={null}>
            <ExcerptLine {...{ text: excerpt, query }} />
          </Suspense>
        )}
      </a>
      {status !== 'idle' && (
        <span
          className={`conversation-status ${status}`}
          role="img"
          aria-label={status === 'answering' ? strings.answering : strings.answeredUnseen}
        />
      )}
      <ConversationMenu
        {...{ summary, title }}
        onSelect={(selected) => (selected === 'delete' ? remove() : setAction(selected))}
      />
      {action === 'share' &&
        createPortal(
          <LazyDialog onClose={() => setAction(undefined)}>
            <ShareDialog conversationId={summary.id} close={() => setAction(undefined)} />
          </LazyDialog>,
          document.body,
        )}
      {action === 'projects' && (
        <LazyDialog onClose={() => setAction(undefined)}>
          <ProjectsDialog {...{ summary, title }} onClose={() => setAction(undefined)} />
        </LazyDialog>
      )}
    </li>
  );
}

function RenameField({ summary, onEnd }: { readonly summary: ConversationSummary; readonly onEnd: () => void }) {
  const strings = useStrings();
  const updateAttributes = useUpdateAttributes(summary);
  const [title, setTitle] = useState(summary.title);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  const save = (): void => {
    const next = title.trim().replace(/\s+/g, ' ');
    if (next !== '' && next !== summary.title) void updateAttributes({ title: next });
    onEnd();
  };
  return (
    <li className="conversation-item">
      <input
        {...{ ref: input, className: 'conversation-name', value: title, maxLength: 200 }}
        aria-label={strings.renameTo(summary.title)}
        onChange={({ target }) => setTitle(target.value)}
        onBlur={save}
        onKeyDown={(event) => {
          if (isComposing(event.nativeEvent)) return;
          if (event.key === 'Enter') save();
          if (event.key !== 'Escape') return;
          event.nativeEvent.stopImmediatePropagation();
          onEnd();
        }}
      />
    </li>
  );
}

/** Returns `answering` while a reply is in progress, and `answered` if it ended while another view was open. */
function useReplyStatus(id: string, isOpen: boolean): 'idle' | 'answering' | 'answered' {
  const { library, replyRunner, user } = usePage();
  const isAnswering = useSyncExternalStore(library.subscribe, () => replyRunner.isAnswering(id));
  if (isAnswering) return 'answering';
  return !isOpen && readDraft(user, toUnseenKey(id)) !== '' ? 'answered' : 'idle';
}
