import { Component, type ComponentType, createElement, lazy, type ReactNode, Suspense, useId, useState } from 'react';
import { useStrings } from '../strings/strings.tsx';
import { useModalDialog } from './use-modal-dialog.ts';
import './question-dialog.css';

const retryDelayMs = 1_000;

/** A part of the page that did not come, also when it was asked for once more. */
class MissingPartError extends Error {
  /** Lets the part be asked for anew when it is shown again. */
  readonly reset: () => void;

  constructor(reset: () => void, cause: unknown) {
    super('A part of the page could not be loaded.', { cause });
    this.reset = reset;
  }
}

/** A part of the page that is loaded when it is first shown; what does not come is asked for once more before it fails. */
export function lazyView<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const createLazy = (): ComponentType<Props> =>
    lazy(async () => {
      const view = await load()
        .catch(() => waitForRetry().then(load))
        .catch((error: unknown) => {
          throw new MissingPartError(reset, error);
        });
      return { default: view };
    }) as unknown as ComponentType<Props>;
  let latest = createLazy();
  const reset = (): void => {
    latest = createLazy();
  };
  return function LazyView(props: Props) {
    const [View] = useState(() => latest);
    return createElement(View, props);
  };
}

function waitForRetry(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, retryDelayMs));
}

interface GuardProps {
  /** Shown where the rest cannot be drawn. */
  readonly fallback: ReactNode;
  readonly children: ReactNode;
}

/** Keeps what cannot be drawn from taking the page with it. */
export class Guard extends Component<GuardProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override componentDidCatch(error: unknown): void {
    if (error instanceof MissingPartError) error.reset();
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.fallback : this.props.children;
  }
}

/** Stands where a part of the page cannot be shown: it could not be loaded, or failed. */
export function MissingPart() {
  const strings = useStrings();
  return (
    <main className="content">
      <div className="sheet missing-part" role="alert">
        <h1>{strings.partMissing}</h1>
        <p>{navigator.onLine ? strings.partMissingWhy : strings.partMissingOffline}</p>
        <button type="button" className="button primary" onClick={() => location.reload()}>
          {strings.reload}
        </button>
      </div>
    </main>
  );
}

interface LazyDialogProps {
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Around a dialog that is loaded when it is opened: one that does not come is said to be missing, and takes nothing with it. */
export function LazyDialog({ onClose, children }: LazyDialogProps) {
  return (
    <Guard fallback={<MissingDialog close={onClose} />}>
      <Suspense fallback={null}>{children}</Suspense>
    </Guard>
  );
}

function MissingDialog({ close: onClose }: { readonly close: () => void }) {
  const strings = useStrings();
  const { dialog, closeDialog } = useModalDialog(onClose);
  const title = useId();
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog', 'aria-labelledby': title, closedby: 'any' }}>
      <h2 id={title}>{strings.partMissing}</h2>
      <p>{navigator.onLine ? strings.partMissingWhy : strings.partMissingOffline}</p>
      <div className="row end">
        <button type="button" className="button" onClick={closeDialog}>
          {strings.close}
        </button>
        <button type="button" className="button primary" onClick={() => location.reload()}>
          {strings.reload}
        </button>
      </div>
    </dialog>
  );
}
