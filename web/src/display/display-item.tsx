import { DialogButton } from '../palette/dialog-button.tsx';
import { lazyView } from '../parts/lazy-view.tsx';
import { useStrings } from '../strings/strings.tsx';

const DisplayDialog = lazyView(() => import('./display-dialog.tsx').then(({ DisplayDialog: view }) => view));

/** Opens the display settings. */
export function DisplayItem() {
  const strings = useStrings();
  return (
    <DialogButton {...{ id: 'display', icon: 'text', title: strings.display, form: 'line' }}>
      {(close) => <DisplayDialog close={close} />}
    </DialogButton>
  );
}
