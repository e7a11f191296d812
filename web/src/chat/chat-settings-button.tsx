import { type ChatSettings, isSet } from '../conversation/chat-settings.ts';
import { DialogButton } from '../palette/dialog-button.tsx';
import { lazyView } from '../parts/lazy-view.ts';
import type { Deployment } from '../service/deployments.ts';
import { useWords } from '../words/words.tsx';

const SettingsDialog = lazyView(() => import('./chat-settings-dialog.tsx').then(({ ChatSettingsDialog: view }) => view));

interface ChatSettingsButtonProps {
  readonly settings: ChatSettings;
  readonly deployment: Deployment | undefined;
  readonly change: (settings: ChatSettings) => void;
}

/** Opens what is set for this conversation; tells whether anything is. */
export function ChatSettingsButton({ settings, deployment, change }: ChatSettingsButtonProps) {
  const words = useWords();
  const isMarked = isSet(settings);
  const label = isMarked ? words.chatSettingsSet : words.chatSettings;
  return (
    <DialogButton {...{ id: 'chat settings', icon: 'sliders', title: words.chatSettings, label, form: 'icon', isMarked }}>
      {(close) => <SettingsDialog {...{ settings, deployment, change, close }} />}
    </DialogButton>
  );
}
