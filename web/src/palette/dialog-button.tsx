import { type ReactNode, useState } from 'react';
import { createPortal } from 'react-dom';
import { Icon, type IconName } from '../parts/icon.tsx';
import { LazyDialog } from '../parts/lazy-view.tsx';
import { useCommands } from './use-commands.ts';

interface DialogButtonProps {
  /** ID of the command in the palette. */
  readonly id: string;
  readonly icon: IconName;
  readonly title: string;
  /** Label of the button if it differs from the title. */
  readonly label?: string;
  /** An icon, or a line of a menu with a text next to the icon. */
  readonly form: 'icon' | 'line';
  readonly isMarked?: boolean;
  /** Whether wide windows show the label next to the icon, and narrow windows open the dialog only from the palette. */
  readonly isWideOnly?: boolean;
  /** The dialog, loaded on demand. */
  readonly children: (close: () => void) => ReactNode;
}

/** A button that opens a dialog. It is also a palette command. */
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
        {isWideOnly && <span className="icon-text">{label}</span>}
      </button>
      {/* Rendered outside closed menus and drawers, which would hide it. */}
      {isOpen && createPortal(<LazyDialog onClose={close}>{children(close)}</LazyDialog>, document.body)}
    </>
  );
}
