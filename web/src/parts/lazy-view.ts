import { type ComponentType, createElement, lazy, useState } from 'react';

const againAfterMs = 1_000;

/** A part of the page that did not come, also when it was asked for once more. */
export class PartMissing extends Error {
  /** Lets the part be asked for anew when it is shown again. */
  readonly forget: () => void;

  constructor(forget: () => void, cause: unknown) {
    super('A part of the page could not be loaded.', { cause });
    this.forget = forget;
  }
}

/** A part of the page that is loaded when it is first shown; what does not come is asked for once more before it fails. */
export function lazyView<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const ask = (): ComponentType<Props> =>
    lazy(async () => {
      const view = await load()
        .catch(() => later().then(load))
        .catch((fault: unknown) => {
          throw new PartMissing(forget, fault);
        });
      return { default: view };
    }) as unknown as ComponentType<Props>;
  let latest = ask();
  const forget = (): void => {
    latest = ask();
  };
  return function LazyView(props: Props) {
    const [View] = useState(() => latest);
    return createElement(View, props);
  };
}

function later(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, againAfterMs));
}
