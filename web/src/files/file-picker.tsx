import { type FormEvent, useCallback, useId, useState } from 'react';
import type { Attachment } from '#contract/chat/message.ts';
import { usePage } from '../page/page.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { useLanguage } from '../strings/strings.tsx';
import { formatSize } from './file-list.tsx';
import { useFilesStrings } from './files-strings.ts';
import { StoredFiles, type StoredItem } from './stored-files.ts';
import '../parts/question-dialog.css';
import './files.css';

interface FilePickerProps {
  readonly attach: (attachments: readonly Attachment[]) => void;
  readonly close: () => void;
}

/** Attaches stored files of the user to a message. */
export function FilePicker({ attach, close }: FilePickerProps) {
  const { strings: common, locale: language } = useLanguage();
  const strings = useFilesStrings();
  const { service } = usePage();
  const { dialog, closeDialog } = useModalDialog(close);
  const load = useCallback((signal: AbortSignal) => new StoredFiles(service).listAll(signal), [service]);
  const { value: items = [], error, isLoading } = useLoaded(load);
  const [query, setQuery] = useState('');
  const title = useId();
  const isFound = (item: StoredItem): boolean => getPath(item).toLowerCase().includes(query.trim().toLowerCase());
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const references = new Set(new FormData(event.currentTarget).getAll('file'));
    attach(items.filter(({ reference }) => references.has(reference)).map(toAttachment));
    closeDialog();
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog form-dialog', 'aria-labelledby': title, 'aria-busy': isLoading }}>
      <h2 id={title}>{strings.pickerTitle}</h2>
      <ErrorMessage error={error} />
      <form className="file-picker" onSubmit={submit}>
        <SearchField label={strings.searchFiles} value={query} onChange={setQuery} />
        <ul>
          {items.map((item) => (
            <li key={item.reference} hidden={!isFound(item)}>
              <label>
                <input type="checkbox" name="file" value={item.reference} />
                <span>{getPath(item)}</span>
                {item.bytes !== undefined && <span className="soft small">{formatSize(item.bytes, language)}</span>}
              </label>
            </li>
          ))}
        </ul>
        {items.every((item) => !isFound(item)) && (
          <p className="soft">
            {isLoading ? common.loading : query.trim() === '' ? strings.noFiles : common.nothingFound(query.trim())}
          </p>
        )}
        <div className="row end">
          <button type="button" className="button" onClick={closeDialog}>
            {common.cancel}
          </button>
          <button type="submit" className="button primary">
            {strings.attach}
          </button>
        </div>
      </form>
    </dialog>
  );
}

const uploadId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Returns the readable path of a file. Uploads in chats and applications are in folders with random names. */
function getPath({ name, reference }: StoredItem): string {
  const folders = reference
    .split('/')
    .slice(2, -1)
    .filter((folder) => !uploadId.test(folder));
  return [...folders.map(decodeURIComponent), name].join('/');
}

function toAttachment({ name, reference, type }: StoredItem): Attachment {
  return { ...(type !== undefined && { type }), title: name, url: reference };
}
