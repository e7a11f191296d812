import { type RefObject, useCallback, useId, useLayoutEffect, useRef, useState } from 'react';
import type { Head } from '../conversation/database.ts';
import { Icon } from '../parts/icon.tsx';
import { useWords } from '../words/words.tsx';
import './head-menu.css';
import type { Arrangement } from '../conversation/arrangement.ts';
import { usePage } from './page.tsx';

/** What is done with a conversation of the list. */
export type HeadAct = 'rename' | 'tag' | 'delete';

interface HeadMenuProps {
  readonly head: Head;
  readonly title: string;
  readonly choose: (act: HeadAct) => void;
}

/** What can be done with a conversation of the list. Escape and a press elsewhere fold it. */
export function HeadMenu({ head, title, choose }: HeadMenuProps) {
  const words = useWords();
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  return (
    <>
      <button
        {...{ ref: button, type: 'button', className: 'icon-button head-more', title: words.moreOf }}
        aria-label={words.actionsOf(title)}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setIsOpen(!isOpen)}
      >
        <Icon name="more" />
      </button>
      {isOpen && <Choices {...{ id, head, title, choose, button }} close={() => setIsOpen(false)} />}
    </>
  );
}

interface ChoicesProps extends HeadMenuProps {
  readonly id: string;
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly close: () => void;
}

function Choices({ id, head, title, choose, button, close }: ChoicesProps) {
  const words = useWords();
  const arrange = useArranging(head);
  const { offerUndo } = usePage();
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (list.current !== null && button.current !== null) unfold(list.current, button.current);
  }, [button]);
  const { pinned = false, archived = false } = head;
  const shelve = async (): Promise<void> => {
    if (!(await arrange({ archived: !archived, pinned: false }))) return;
    const said = archived ? words.isBackFromArchive(title) : words.isArchived(title);
    offerUndo({ said, undo: () => void arrange({ archived, pinned }) });
  };
  const choices: readonly [string, () => void][] = [
    [words.rename, () => choose('rename')],
    ...(archived ? [] : [[pinned ? words.unpin : words.pin, () => void arrange({ pinned: !pinned })] as const]),
    [words.tagsOf, () => choose('tag')],
    [archived ? words.unarchive : words.archive, () => void shelve()],
    [words.deleteThis, () => choose('delete')],
  ] as [string, () => void][];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys go from one of the buttons inside to the next
    <div
      {...{ id, ref: list, className: 'head-choices', popover: 'auto' as const }}
      onToggle={({ newState }) => newState === 'closed' && close()}
      onKeyDown={(event) => {
        // An Escape that folds the choices leaves the drawer they are in open.
        if (event.key === 'Escape') event.nativeEvent.stopImmediatePropagation();
        step(event.key, event.currentTarget);
      }}
    >
      {choices.map(([name, act]) => (
        <button
          key={name}
          type="button"
          onClick={() => {
            button.current?.focus();
            close();
            act();
          }}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

/** Shows the choices beside their button, within the window. */
function unfold(list: HTMLElement, button: HTMLElement): void {
  list.showPopover();
  const { bottom, top, right } = button.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  list.style.left = `${Math.max(8, Math.min(right - width, innerWidth - width - 8))}px`;
  list.style.top = `${bottom + height + 8 > innerHeight ? Math.max(8, top - height) : bottom}px`;
  list.querySelector('button')?.focus();
}

function step(key: string, list: HTMLElement): void {
  const by = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
  const buttons = [...list.querySelectorAll('button')];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  if (by !== 0) buttons.at((at + by) % buttons.length)?.focus();
}

/** Changes how a conversation stands in the list; resolves with whether that is done, and says so where it is not. */
export function useArranging({ id }: Head): (arrangement: Partial<Arrangement>) => Promise<boolean> {
  const words = useWords();
  const { library, announce } = usePage();
  return useCallback(
    async (arrangement) => {
      const isDone = await library.arrange(id, arrangement).catch(() => false);
      announce(isDone ? '' : words.arrangingFailed);
      return isDone;
    },
    [id, library, announce, words],
  );
}
