import { type FormEvent, useId, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { isComposing } from '../parts/is-composing.ts';
import { useWords } from '../words/words.tsx';
import { useFilesWords } from './files-words.ts';

/** Leads to a folder in the one that is open; it is there once a file is in it. */
export function NewFolder({ folder }: { readonly folder: string }) {
  const words = useWords();
  const filesWords = useFilesWords();
  const { go } = usePage();
  const [isOpen, setIsOpen] = useState(false);
  const [isBad, setIsBad] = useState(false);
  const [field, hint] = [useId(), useId()];
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name') ?? '').trim();
    setIsBad(!isFolderName(name));
    if (isFolderName(name)) go({ at: 'files', folder: folder === '' ? name : `${folder}/${name}` });
  };
  if (!isOpen) {
    return (
      <button type="button" className="button" onClick={() => setIsOpen(true)}>
        <Icon name="folder" />
        {filesWords.newFolder}
      </button>
    );
  }
  return (
    <form
      className="new-folder"
      onSubmit={submit}
      onKeyDown={({ key, nativeEvent }) => key === 'Escape' && !isComposing(nativeEvent) && setIsOpen(false)}
    >
      <label htmlFor={field}>{filesWords.folderName}</label>
      <div className="row">
        <input {...{ id: field, name: 'name', autoComplete: 'off', ref: focusOn }} aria-describedby={hint} aria-invalid={isBad} />
        <button type="submit" className="button">
          {filesWords.open}
        </button>
        <button type="button" className="button quiet" onClick={() => setIsOpen(false)}>
          {words.cancel}
        </button>
      </div>
      <p id={hint} className={isBad ? 'trouble' : 'soft small'}>
        {isBad ? filesWords.badFolderName : filesWords.folderHint}
      </p>
    </form>
  );
}

function focusOn(input: HTMLInputElement | null): void {
  input?.focus();
}

function isFolderName(name: string): boolean {
  return name !== '' && !/^\.{1,2}$|\//.test(name);
}
