import { type ReactNode, useState } from 'react';
import { createPortal } from 'react-dom';
import { Icon, type IconName } from '../parts/icon.tsx';
import { LazyDialog } from '../parts/lazy-view.tsx';
import { useCommands } from './use-commands.ts';

interface DialogButtonProps {
  /** Of the command in the palette. */
  readonly id: string;
  readonly icon: IconName;
  readonly title: string;
  /** What the button says where that is more than the title. */
  readonly label?: string;
  /** A `line` of a menu has its words beside the icon. */
  readonly form: 'icon' | 'line';
  readonly isMarked?: boolean;
  /** In a narrow window the palette alone opens it. */
  readonly isWideOnly?: boolean;
  /** The dialog, loaded when it is opened. */
  readonly children: (close: () => void) => ReactNode;
}

/** Opens a dialog, as a command of the palette does. */
export function DialogButton({
  id,
  icon,
  title,
  label = title,
  form,
  isMarked = false,
  isWideOnly = false,
  children,
}: DialogButtonProps) {
  const [isOpen, setIsOpen] = useState(false);
  const open = (): void => setIsOpen(true);
  const close = (): void => setIsOpen(false);
  useCommands(() => [{ id, title, kind: 'action', icon, run: open }]);
  const isLine = form === 'line';
  const className = isLine ? 'quiet-link' : `icon-button${isMarked ? ' marked' : ''}${isWideOnly ? ' wide-only' : ''}`;
  return (
    <>
      <button
        {...{ type: 'button', className, onClick: open, 'aria-haspopup': 'dialog' }}
        {...(!isLine && { title: label, 'aria-label': label })}
      >
        <Icon name={icon} />
        {isLine && label}
      </button>
      {/* Not inside a menu that may be folded, or a drawer that is shut: nothing of it would be seen. */}
      {isOpen && createPortal(<LazyDialog onClose={close}>{children(close)}</LazyDialog>, document.body)}
    </>
  );
}
