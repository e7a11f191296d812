import { useRef } from 'react';
import { Icon } from '../parts/icon.tsx';
import { useWords } from '../words/words.tsx';

/** A picture, which a press shows as large as the window. */
export function Picture({ url, title }: { readonly url: string; readonly title: string }) {
  const words = useWords();
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button
        {...{ type: 'button', className: 'picture', 'aria-haspopup': 'dialog', 'aria-label': words.enlarge(title) }}
        onClick={() => dialog.current?.showModal()}
      >
        <img className="attachment-image" src={url} alt={title} />
      </button>
      <dialog {...{ ref: dialog, className: 'picture-dialog', 'aria-label': title, closedby: 'any' }}>
        <button
          {...{ type: 'button', className: 'icon-button', 'aria-label': words.close, title: words.close }}
          onClick={() => dialog.current?.close()}
        >
          <Icon name="close" />
        </button>
        <img src={url} alt={title} />
      </dialog>
    </>
  );
}
