import { Component, type ComponentType, createElement, lazy, type ReactNode, Suspense, useId, useState } from 'react';
import { useWords } from '../words/words.tsx';
import { useShownDialog } from './use-shown-dialog.ts';
import './question-dialog.css';

const againAfterMs = 1_000;

/** A part of the page that did not come, also when it was asked for once more. */
class PartMissing extends Error {
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

interface GuardProps {
  /** Shown where the rest cannot be drawn. */
  readonly instead: ReactNode;
  readonly children: ReactNode;
}

/** Keeps what cannot be drawn from taking the page with it. */
export class Guard extends Component<GuardProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override componentDidCatch(fault: unknown): void {
    if (fault instanceof PartMissing) fault.forget();
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.instead : this.props.children;
  }
}

/** Stands where a part of the page cannot be shown: it could not be loaded, or failed. */
export function MissingPart() {
  const words = useWords();
  return (
    <main className="content">
      <div className="sheet missing-part" role="alert">
        <h1>{words.partMissing}</h1>
        <p>{navigator.onLine ? words.partMissingWhy : words.partMissingOffline}</p>
        <button type="button" className="button primary" onClick={() => location.reload()}>
          {words.reload}
        </button>
      </div>
    </main>
  );
}

interface LaterDialogProps {
  readonly close: () => void;
  readonly children: ReactNode;
}

/** Around a dialog that is loaded when it is opened: one that does not come is said to be missing, and takes nothing with it. */
export function LaterDialog({ close, children }: LaterDialogProps) {
  return (
    <Guard instead={<MissingDialog close={close} />}>
      <Suspense fallback={null}>{children}</Suspense>
    </Guard>
  );
}

function MissingDialog({ close }: { readonly close: () => void }) {
  const words = useWords();
  const { dialog, leave } = useShownDialog(close);
  const title = useId();
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog', 'aria-labelledby': title, closedby: 'any' }}>
      <h2 id={title}>{words.partMissing}</h2>
      <p>{navigator.onLine ? words.partMissingWhy : words.partMissingOffline}</p>
      <div className="row end">
        <button type="button" className="button" onClick={leave}>
          {words.close}
        </button>
        <button type="button" className="button primary" onClick={() => location.reload()}>
          {words.reload}
        </button>
      </div>
    </dialog>
  );
}
