import { DialogButton } from '../palette/dialog-button.tsx';
import { lazyView } from '../parts/lazy-view.tsx';
import { useStrings } from '../strings/strings.tsx';

const TransferDialog = lazyView(() => import('./transfer-dialog.tsx').then(({ TransferDialog: view }) => view));

/** Opens the import and export dialog. */
export function TransferItem() {
  const strings = useStrings();
  return (
    <DialogButton {...{ id: 'transfer', icon: 'save', title: strings.transfer, form: 'line' }}>
      {(close) => <TransferDialog close={close} />}
    </DialogButton>
  );
}
