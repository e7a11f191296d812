import { useState } from 'react';
import { usePage } from '../page/page.tsx';
import { useCommands } from '../palette/use-commands.ts';
import { Icon } from '../parts/icon.tsx';
import { LaterDialog } from '../parts/later-dialog.tsx';
import { lazyView } from '../parts/lazy-view.ts';
import { useWords } from '../words/words.tsx';

const ShareDialog = lazyView(() => import('./share-dialog.tsx').then(({ ShareDialog: view }) => view));

/** Opens how a conversation is shared; without one, what is shared already. Nothing where nothing can be. */
export function ShareButton({ conversation }: { readonly conversation?: string }) {
  const words = useWords();
  const { sharesChats } = usePage();
  const [isOpen, setIsOpen] = useState(false);
  const open = (): void => setIsOpen(true);
  const label = conversation === undefined ? words.sharedLinks : words.share;
  useCommands(() => (sharesChats ? [{ id: label, title: label, kind: 'action', icon: 'link', run: open }] : []));
  if (!sharesChats) return null;
  const isIcon = conversation !== undefined;
  return (
    <>
      <button
        {...{ type: 'button', className: isIcon ? 'icon-button' : 'quiet-link', onClick: open, 'aria-haspopup': 'dialog' }}
        {...(isIcon && { title: label, 'aria-label': label })}
      >
        <Icon name="link" />
        {!isIcon && label}
      </button>
      {isOpen && (
        <LaterDialog close={() => setIsOpen(false)}>
          <ShareDialog {...{ conversation }} close={() => setIsOpen(false)} />
        </LaterDialog>
      )}
    </>
  );
}
