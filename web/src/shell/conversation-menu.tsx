import { type RefObject, useCallback, useId, useLayoutEffect, useRef, useState } from 'react';
import type { ConversationSummary } from '../conversation/database.ts';
import { IconButton } from '../parts/icon.tsx';
import { useStrings } from '../strings/strings.tsx';
import './conversation-menu.css';
import type { ListAttributes } from '../conversation/list-attributes.ts';
import { usePage } from './page.tsx';
import { useExport } from './use-export.ts';

/** An action on a listed chat. */
export type ConversationAction = 'rename' | 'projects' | 'share' | 'delete';

interface ConversationMenuProps {
  readonly summary: ConversationSummary;
  readonly title: string;
  readonly onSelect: (action: ConversationAction) => void;
}

/** Actions of a listed chat. Escape and a click elsewhere close the menu. */
export function ConversationMenu({ summary, title, onSelect }: ConversationMenuProps) {
  const strings = useStrings();
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  return (
    <>
      <IconButton
        {...{ ref: button, icon: 'more', className: 'conversation-more', label: strings.more }}
        aria-label={strings.moreFor(title)}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setIsOpen(!isOpen)}
      />
      {isOpen && <Choices {...{ id, summary, title, onSelect, button }} close={() => setIsOpen(false)} />}
    </>
  );
}

interface ChoicesProps extends ConversationMenuProps {
  readonly id: string;
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly close: () => void;
}

function Choices({ id, summary, title, onSelect, button, close }: ChoicesProps) {
  const strings = useStrings();
  const updateAttributes = useUpdateAttributes(summary);
  const { offerUndo, library, sharesChats } = usePage();
  const saveExport = useExport();
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (list.current !== null && button.current !== null) showMenu(list.current, button.current);
  }, [button]);
  const { pinned = false, archived = false } = summary;
  const toggleArchived = async (): Promise<void> => {
    if (!(await updateAttributes({ archived: !archived, pinned: false }))) return;
    const message = archived ? strings.isBackFromArchive(title) : strings.isArchived(title);
    offerUndo({ message, undo: () => void updateAttributes({ archived, pinned }) });
  };
  const choices: readonly (readonly [name: string, act: () => void])[] = [
    [strings.rename, () => onSelect('rename')],
    ...(archived ? [] : [[pinned ? strings.unpin : strings.pin, () => void updateAttributes({ pinned: !pinned })] as const]),
    [strings.projects, () => onSelect('projects')],
    ...(sharesChats ? [[strings.shareThis, () => onSelect('share')] as const] : []),
    [strings.exportAs('JSON'), () => void saveExport(library.readFull(summary.id), 'json')],
    [strings.exportAs('Markdown'), () => void saveExport(library.readFull(summary.id), 'markdown')],
    [archived ? strings.unarchive : strings.archive, () => void toggleArchived()],
    [strings.deleteThis, () => onSelect('delete')],
  ];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys go from one of the buttons inside to the next
    <div
      {...{ id, ref: list, className: 'conversation-menu', popover: 'auto' as const }}
      onToggle={({ newState }) => newState === 'closed' && close()}
      onKeyDown={(event) => {
        // An Escape that closes the menu must not close the drawer around it.
        if (event.key === 'Escape') event.nativeEvent.stopImmediatePropagation();
        moveFocusInMenu(event.key, event.currentTarget);
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

/** Places the menu next to its button, within the window. */
function showMenu(list: HTMLElement, button: HTMLElement): void {
  list.showPopover();
  const { bottom, top, right } = button.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  list.style.left = `${Math.max(8, Math.min(right - width, innerWidth - width - 8))}px`;
  list.style.top = `${bottom + height + 8 > innerHeight ? Math.max(8, top - height) : bottom}px`;
  list.querySelector('button')?.focus();
}

function moveFocusInMenu(key: string, list: HTMLElement): void {
  const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
  const buttons = [...list.querySelectorAll('button')];
  const current = buttons.indexOf(document.activeElement as HTMLButtonElement);
  if (step !== 0) buttons.at((current + step) % buttons.length)?.focus();
}

/** Changes list attributes of a chat. Resolves with whether it succeeded, and reports a failure. */
export function useUpdateAttributes({ id }: ConversationSummary): (attributes: Partial<ListAttributes>) => Promise<boolean> {
  const strings = useStrings();
  const { library, announce } = usePage();
  return useCallback(
    async (attributes) => {
      const isDone = await library.updateListAttributes(id, attributes).catch(() => false);
      announce(isDone ? '' : strings.arrangingFailed);
      return isDone;
    },
    [id, library, announce, strings],
  );
}
