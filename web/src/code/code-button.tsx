import { useState } from 'react';
import { useCommands } from '../palette/use-commands.ts';
import { Icon } from '../parts/icon.tsx';
import { LaterDialog } from '../parts/later-dialog.tsx';
import { lazyView } from '../parts/lazy-view.ts';
import type { Deployment } from '../service/deployments.ts';
import { useWords } from '../words/words.tsx';

const CodeDialog = lazyView(() => import('./code-dialog.tsx').then(({ CodeDialog: view }) => view));

/** Opens how programs ask a deployment. */
export function CodeButton({ deployment }: { readonly deployment: Deployment }) {
  const words = useWords();
  const [isOpen, setIsOpen] = useState(false);
  const label = words.useFromCode;
  useCommands(() => [{ id: 'code', title: label, kind: 'action', icon: 'code', run: () => setIsOpen(true) }]);
  return (
    <>
      <button
        type="button"
        className="icon-button"
        {...{ 'aria-label': label, title: label, 'aria-haspopup': 'dialog' }}
        onClick={() => setIsOpen(true)}
      >
        <Icon name="code" />
      </button>
      {isOpen && (
        <LaterDialog close={() => setIsOpen(false)}>
          <CodeDialog deployment={deployment} close={() => setIsOpen(false)} />
        </LaterDialog>
      )}
    </>
  );
}
