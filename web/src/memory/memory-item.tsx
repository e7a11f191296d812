import { DialogButton } from '../palette/dialog-button.tsx';
import { lazyView } from '../parts/lazy-view.tsx';
import { useStrings } from '../strings/strings.tsx';

const MemoryDialog = lazyView(() => import('./memory-dialog.tsx').then(({ MemoryDialog: view }) => view));

/** Opens the notes about the user. */
export function MemoryItem() {
  const strings = useStrings();
  return (
    <DialogButton {...{ id: 'memory', icon: 'edit', title: strings.memory, form: 'line' }}>
      {(close) => <MemoryDialog close={close} />}
    </DialogButton>
  );
}
