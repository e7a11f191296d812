import { useEffect, useRef, useState } from 'react';

const storageKey = 'parley sidebar';
/** Narrower windows show the sidebar as a drawer (page.css). */
const narrow = '(max-width: 52rem)';

interface SidebarState {
  /** Whether the drawer of a narrow window is open. */
  readonly isMenuOpen: boolean;
  /** Whether a wide window hides the sidebar. The browser stores this choice. */
  readonly isCollapsed: boolean;
  /** Opens the drawer, or shows the sidebar again. */
  readonly open: () => void;
  readonly closeMenu: () => void;
  readonly collapse: () => void;
}

export function useSidebar(): SidebarState {
  const [isMenuOpen, setIsMenuOpen] = useState(false);
  const [isCollapsed, setIsCollapsed] = useState(() => localStorage.getItem(storageKey) === 'collapsed');
  const wasCollapsed = useRef(isCollapsed);
  useEffect(() => {
    if (wasCollapsed.current === isCollapsed) return;
    wasCollapsed.current = isCollapsed;
    if (isCollapsed) localStorage.setItem(storageKey, 'collapsed');
    else localStorage.removeItem(storageKey);
    // The button that was used is hidden now.
    document.querySelector<HTMLElement>(isCollapsed ? '.page-header button' : '.sidebar-collapse')?.focus();
  }, [isCollapsed]);
  return {
    isMenuOpen,
    isCollapsed,
    open: () => (matchMedia(narrow).matches ? setIsMenuOpen(true) : setIsCollapsed(false)),
    closeMenu: () => setIsMenuOpen(false),
    collapse: () => setIsCollapsed(true),
  };
}
