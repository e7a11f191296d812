import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

const againAfterMs = 1_000;

/** A part of the page that is loaded when it is first shown; what does not come is asked for once more before it fails. */
export function lazyView<Props>(load: () => Promise<ComponentType<Props>>): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: await load().catch(() => later().then(load)) }));
}

function later(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, againAfterMs));
}
