import { useState } from 'react';
import { type ChatSettings, isSet } from '../conversation/chat-settings.ts';
import { useCommands } from '../palette/use-commands.ts';
import { Icon } from '../parts/icon.tsx';
import { LaterDialog } from '../parts/later-dialog.tsx';
import { lazyView } from '../parts/lazy-view.ts';
import { useWords } from '../words/words.tsx';

const SettingsDialog = lazyView(() => import('./chat-settings-dialog.tsx').then(({ ChatSettingsDialog: view }) => view));

interface ChatSettingsButtonProps {
  readonly settings: ChatSettings;
  readonly change: (settings: ChatSettings) => void;
}

/** Opens what is set for this conversation; tells whether anything is. */
export function ChatSettingsButton({ settings, change }: ChatSettingsButtonProps) {
  const words = useWords();
  const [isOpen, setIsOpen] = useState(false);
  const hasAny = isSet(settings);
  const label = hasAny ? words.chatSettingsSet : words.chatSettings;
  useCommands(() => [
    { id: 'chat settings', title: words.chatSettings, kind: 'action', icon: 'sliders', run: () => setIsOpen(true) },
  ]);
  return (
    <>
      <button
        type="button"
        className={hasAny ? 'icon-button marked' : 'icon-button'}
        {...{ 'aria-label': label, title: label, 'aria-haspopup': 'dialog' }}
        onClick={() => setIsOpen(true)}
      >
        <Icon name="sliders" />
      </button>
      {isOpen && (
        <LaterDialog close={() => setIsOpen(false)}>
          <SettingsDialog {...{ settings, change }} close={() => setIsOpen(false)} />
        </LaterDialog>
      )}
    </>
  );
}
