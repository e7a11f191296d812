import { DialogButton } from '../palette/dialog-button.tsx';
import { lazyView } from '../parts/lazy-view.tsx';
import type { Deployment } from '../service/deployments.ts';
import { useStrings } from '../strings/strings.tsx';

const CodeDialog = lazyView(() => import('./code-dialog.tsx').then(({ CodeDialog: view }) => view));

/** Opens the instructions for programs that call a deployment. */
export function CodeButton({ deployment }: { readonly deployment: Deployment }) {
  const strings = useStrings();
  return (
    <DialogButton {...{ id: 'code', icon: 'code', title: strings.useFromCode, form: 'icon', isWideOnly: true }}>
      {(close) => <CodeDialog {...{ deployment, close }} />}
    </DialogButton>
  );
}
