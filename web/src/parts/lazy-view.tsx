import { Component, type ComponentType, createElement, lazy, type ReactNode, Suspense, useId, useState } from 'react';
import { useStrings } from '../strings/strings.tsx';
import { TextButton } from './icon.tsx';
import { useModalDialog } from './use-modal-dialog.ts';
import './question-dialog.css';

const retryDelayMs = 1_000;
/** The delay before the first attempt to load a missing part in the background. It doubles up to the maximum. */
const backgroundDelayMs = 2_000;
const maxBackgroundDelayMs = 60_000;

/** A part of the page that failed to load twice. */
class MissingPartError extends Error {
  /** Loads the part again. Rejects if that fails too. */
  readonly load: () => Promise<unknown>;
  /** Allows another attempt when the part is rendered again. */
  readonly reset: () => void;

  constructor(load: () => Promise<unknown>, reset: () => void, cause: unknown) {
    super('A part of the page could not be loaded.', { cause });
    this.load = load;
    this.reset = reset;
  }
}

/** Loads a part of the page on demand. A failed load is repeated once, and later in the background by `Guard`. */
export function lazyView<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const createLazy = (): ComponentType<Props> =>
    lazy(async () => {
      const view = await load()
        .catch(() => new Promise((resolve) => setTimeout(resolve, retryDelayMs)).then(load))
        .catch((error: unknown) => {
          throw new MissingPartError(load, reset, error);
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

interface GuardProps {
  /** Shown if the children fail to render. */
  readonly fallback: ReactNode;
  /** Shown while the children load. */
  readonly pending?: ReactNode;
  readonly children: ReactNode;
}

/** Boundary of a part of the page that can fail, and that may be loaded on demand. Shows a missing part once it can be loaded. */
export class Guard extends Component<GuardProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };
  #timer: ReturnType<typeof setTimeout> | undefined;

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override componentDidCatch(error: unknown): void {
    if (!(error instanceof MissingPartError)) return;
    error.reset();
    this.#recover(error, backgroundDelayMs);
  }

  override componentWillUnmount(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #recover(error: MissingPartError, delayMs: number): void {
    this.#timer = setTimeout(async () => {
      const isLoaded = await error.load().then(
        () => true,
        () => false,
      );
      if (isLoaded) this.setState({ hasFailed: false });
      else if (this.#timer !== undefined) this.#recover(error, Math.min(delayMs * 2, maxBackgroundDelayMs));
    }, delayMs);
  }

  override render(): ReactNode {
    const { fallback, pending = null, children } = this.props;
    return this.state.hasFailed ? fallback : <Suspense fallback={pending}>{children}</Suspense>;
  }
}

/** Shown if a part of the page failed to load or render. */
export function MissingPart() {
  const strings = useStrings();
  return (
    <main className="content">
      <div className="sheet missing-part" role="alert">
        <h1>{strings.partMissing}</h1>
        <p>{navigator.onLine ? strings.partMissingWhy : strings.partMissingOffline}</p>
        <TextButton className="button primary" onClick={() => location.reload()}>
          {strings.reload}
        </TextButton>
      </div>
    </main>
  );
}

interface LazyDialogProps {
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** An error boundary for a dialog that is loaded on demand. It shows that a dialog is missing. */
export function LazyDialog({ onClose, children }: LazyDialogProps) {
  return <Guard fallback={<MissingDialog onClose={onClose} />}>{children}</Guard>;
}

function MissingDialog({ onClose }: Pick<LazyDialogProps, 'onClose'>) {
  const strings = useStrings();
  const { dialog, closeDialog } = useModalDialog(onClose);
  const titleId = useId();
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog', 'aria-labelledby': titleId, closedby: 'any' }}>
      <h2 id={titleId}>{strings.partMissing}</h2>
      <p>{navigator.onLine ? strings.partMissingWhy : strings.partMissingOffline}</p>
      <div className="row end">
        <TextButton onClick={closeDialog}>{strings.close}</TextButton>
        <TextButton className="button primary" onClick={() => location.reload()}>
          {strings.reload}
        </TextButton>
      </div>
    </dialog>
  );
}
