import { type ReactNode, Suspense, useId } from 'react';
import { useWords } from '../words/words.tsx';
import { Guard } from './guard.tsx';
import { useShownDialog } from './use-shown-dialog.ts';
import './question-dialog.css';

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
