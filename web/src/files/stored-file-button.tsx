import { useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { LazyDialog, lazyView } from '../parts/lazy-view.tsx';
import { usePage } from '../shell/page.tsx';
import { useStrings } from '../strings/strings.tsx';
import type { StoredFileDialogProps } from './file-picker.tsx';

const StoredFileDialog = lazyView(() => import('./file-picker.tsx').then(({ StoredFileDialog: view }) => view));

interface StoredFileButtonProps extends Omit<StoredFileDialogProps, 'close'> {
  readonly className: string;
}

/** A button that selects stored files of the user. Renders nothing if the service stores no files. */
export function StoredFileButton({ className, ...picker }: StoredFileButtonProps) {
  const strings = useStrings();
  const { storesFiles } = usePage();
  const [isOpen, setIsOpen] = useState(false);
  const close = (): void => setIsOpen(false);
  if (!storesFiles) return null;
  return (
    <>
      <button {...{ type: 'button', className }} onClick={() => setIsOpen(true)}>
        <Icon name="folder" />
        {strings.attachStored}
      </button>
      {isOpen && (
        <LazyDialog onClose={close}>
          <StoredFileDialog {...{ ...picker, close }} />
        </LazyDialog>
      )}
    </>
  );
}
