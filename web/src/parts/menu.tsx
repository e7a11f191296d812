import { type ReactNode, useRef } from 'react';
import './menu.css';

interface MenuProps {
  readonly label: string;
  readonly icon: ReactNode;
  /** Class of a button that shows the label next to the icon. */
  readonly className?: string;
  /** Whether the menu stays open after a choice. */
  readonly isMultiple?: boolean;
  readonly children: ReactNode;
}

/** A button with a menu. A choice, Escape, or losing the focus closes it. */
export function Menu({ label, icon, className, isMultiple = false, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const fold = (): void => {
    if (menu.current !== null) menu.current.open = false;
  };
  return (
    <details
      {...{ ref: menu, className: 'menu' }}
      onKeyDown={({ key }) => {
        if (key !== 'Escape') return;
        fold();
        menu.current?.querySelector('summary')?.focus();
      }}
      onBlur={({ relatedTarget }) => !menu.current?.contains(relatedTarget) && fold()}
    >
      <summary className={className ?? 'icon-button'} {...(className === undefined && { 'aria-label': label, title: label })}>
        {icon}
        {className !== undefined && label}
      </summary>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys act on the buttons inside, whose clicks arrive here */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
      <div className="menu-body" onClick={isMultiple ? undefined : fold}>
        {children}
      </div>
    </details>
  );
}
