import { type RefObject, useEffectEvent, useLayoutEffect, useRef } from 'react';

/**
 * Shows an element that is not a dialog, with the focus on its first element that matches the selector. When the element is
 * removed, restores the previous focus if the focus is inside the element or on no element.
 */
export function useFocusInside<Shown extends HTMLElement>(
  selector: string,
  show: (element: Shown) => void,
): RefObject<Shown | null> {
  const ref = useRef<Shown>(null);
  const open = useEffectEvent((element: Shown): void => {
    show(element);
    element.querySelector<HTMLElement>(selector)?.focus();
  });
  useLayoutEffect(() => {
    const [element, previousFocus] = [ref.current, document.activeElement];
    if (element !== null) open(element);
    return () => {
      const hasFocus = element?.contains(document.activeElement) || document.activeElement === document.body;
      if (hasFocus && previousFocus instanceof HTMLElement) previousFocus.focus();
    };
  }, []);
  return ref;
}

/** A ref that focuses an element when it appears. */
export const focusOnMount = (element: HTMLElement | null): void => element?.focus();

/** Focuses the heading of the view, because the focused element disappears. */
export function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus();
}
