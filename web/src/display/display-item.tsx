import { useState } from 'react';
import { useCommands } from '../palette/use-commands.ts';
import { Icon } from '../parts/icon.tsx';
import { LaterDialog } from '../parts/later-dialog.tsx';
import { lazyView } from '../parts/lazy-view.ts';
import { useWords } from '../words/words.tsx';

const DisplayDialog = lazyView(() => import('./display-dialog.tsx').then(({ DisplayDialog: view }) => view));

/** Opens the choice of how the page is drawn. */
export function DisplayItem() {
  const words = useWords();
  const [isOpen, setIsOpen] = useState(false);
  const open = (): void => setIsOpen(true);
  useCommands(() => [{ id: 'display', title: words.display, kind: 'action', icon: 'text', run: open }]);
  return (
    <>
      <button type="button" className="quiet-link" aria-haspopup="dialog" onClick={open}>
        <Icon name="text" />
        {words.display}
      </button>
      {isOpen && (
        <LaterDialog close={() => setIsOpen(false)}>
          <DisplayDialog close={() => setIsOpen(false)} />
        </LaterDialog>
      )}
    </>
  );
}
