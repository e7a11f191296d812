import { DialogButton } from '../palette/dialog-button.tsx';
import { lazyView } from '../parts/lazy-view.tsx';
import { usePage } from '../shell/page.tsx';
import { useStrings } from '../strings/strings.tsx';

const ShareDialog = lazyView(() => import('./share-dialog.tsx').then(({ ShareDialog: view }) => view));

/** Opens the share dialog of a chat, or the list of shared links if there is no chat. Not rendered if sharing is disabled. */
export function ShareButton({ conversationId }: { readonly conversationId?: string }) {
  const strings = useStrings();
  const { sharesChats } = usePage();
  if (!sharesChats) return null;
  const title = conversationId === undefined ? strings.sharedLinks : strings.share;
  return (
    <DialogButton {...{ id: title, icon: 'share', title, form: conversationId === undefined ? 'line' : 'icon' }}>
      {(close) => <ShareDialog {...{ conversationId, close }} />}
    </DialogButton>
  );
}
