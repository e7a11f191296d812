import { useState } from 'react';
import { useCommands } from '../palette/use-commands.ts';
import { Icon } from '../parts/icon.tsx';
import { LaterDialog } from '../parts/later-dialog.tsx';
import { lazyView } from '../parts/lazy-view.ts';
import { useWords } from '../words/words.tsx';

const TransferDialog = lazyView(() => import('./transfer-dialog.tsx').then(({ TransferDialog: view }) => view));

/** Opens how conversations are taken along and brought in. */
export function TransferItem() {
  const words = useWords();
  const [isOpen, setIsOpen] = useState(false);
  const open = (): void => setIsOpen(true);
  useCommands(() => [{ id: 'transfer', title: words.transfer, kind: 'action', icon: 'save', run: open }]);
  return (
    <>
      <button type="button" className="quiet-link" aria-haspopup="dialog" onClick={open}>
        <Icon name="save" />
        {words.transfer}
      </button>
      {isOpen && (
        <LaterDialog close={() => setIsOpen(false)}>
          <TransferDialog close={() => setIsOpen(false)} />
        </LaterDialog>
      )}
    </>
  );
}
