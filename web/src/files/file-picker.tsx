import { type FormEvent, useCallback, useId, useState } from 'react';
import type { Attachment } from '#contract/chat/message.ts';
import { readContent } from '../attachments/read-content.ts';
import { ErrorMessage } from '../parts/error-message.tsx';
import { TextButton } from '../parts/icon.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { useAction, useLoaded } from '../parts/use-loaded.ts';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { attachFile, maxInlineBytes } from '../service/attach-file.ts';
import type { Service } from '../service/service.ts';
import { usePage } from '../shell/page.tsx';
import { useLanguage } from '../strings/strings.tsx';
import { formatSize } from './file-list.tsx';
import { useFilesStrings } from './files-strings.ts';
import { getReadablePath, StoredFiles, type StoredItem } from './stored-files.ts';
import '../parts/question-dialog.css';
import './files.css';

const readTimeoutMs = 30_000;

interface FilePickerProps {
  readonly attach: (attachments: readonly Attachment[]) => void;
  readonly close: () => void;
}

/** Attaches stored files of the user to a message. */
export function FilePicker({ attach, close }: FilePickerProps) {
  const { service } = usePage();
  const select = async (items: readonly StoredItem[]): Promise<void> =>
    attach(await Promise.all(items.map((item) => toMessageAttachment(service, item))));
  return <StoredFileDialog {...{ select, close }} />;
}

export interface StoredFileDialogProps {
  /** Called with the selected files. If it rejects, the dialog stays open and shows the error. */
  readonly select: (items: readonly StoredItem[]) => unknown;
  readonly close: () => void;
  /** Returns the reason why a file cannot be selected, or undefined if it can. */
  readonly findRejection?: ((item: StoredItem) => string | undefined) | undefined;
  /** Whether only one file can be selected. */
  readonly isSingle?: boolean | undefined;
}

/** Selects stored files of the user. Files that cannot be selected come last, with the reason. */
export function StoredFileDialog({ select, close, findRejection, isSingle = false }: StoredFileDialogProps) {
  const { strings: common, locale } = useLanguage();
  const strings = useFilesStrings();
  const { service } = usePage();
  const { dialog, closeDialog } = useModalDialog(close);
  const load = useCallback((signal: AbortSignal) => new StoredFiles(service).listAll(signal), [service]);
  const { value: items = [], error, isLoading } = useLoaded(load);
  const [query, setQuery] = useState('');
  const [count, setCount] = useState(0);
  const [titleId, hintId] = [useId(), useId()];
  const isMatch = (item: StoredItem): boolean => getReadablePath(item).toLowerCase().includes(query.trim().toLowerCase());
  const { error: readError, isRunning: isReading, run } = useAction();
  const rejections = new Map(items.map((item) => [item, findRejection?.(item)]));
  const isRejected = (item: StoredItem): boolean => rejections.get(item) !== undefined;
  const sortedItems = items.toSorted((first, second) => Number(isRejected(first)) - Number(isRejected(second)));
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (count === 0 || isReading) return;
    const references = new Set(new FormData(event.currentTarget).getAll('file'));
    if (await run(async () => select(items.filter(({ reference }) => references.has(reference))))) closeDialog();
  };
  return (
    <dialog
      {...{
        ref: dialog,
        className: 'question-dialog form-dialog',
        'aria-labelledby': titleId,
        'aria-busy': isLoading || isReading,
      }}
    >
      <h2 id={titleId}>{isSingle ? strings.singlePickerTitle : strings.pickerTitle}</h2>
      <ErrorMessage error={error ?? readError} />
      <form
        className="file-picker"
        onSubmit={(event) => void submit(event)}
        onChange={({ currentTarget }) => setCount(new FormData(currentTarget).getAll('file').length)}
      >
        <SearchField label={strings.searchFiles} value={query} onChange={setQuery} />
        <ul>
          {sortedItems.map((item) => (
            <li key={item.reference} hidden={!isMatch(item)}>
              <label>
                <input
                  {...{ type: isSingle ? 'radio' : 'checkbox', name: 'file', value: item.reference, disabled: isRejected(item) }}
                />
                <span className={isRejected(item) ? 'soft' : undefined}>{getReadablePath(item)}</span>
                <span className="soft small">
                  {rejections.get(item) ?? (item.bytes !== undefined && formatSize(item.bytes, locale))}
                </span>
              </label>
            </li>
          ))}
        </ul>
        {items.every((item) => !isMatch(item)) && (
          <p className="soft">
            {isLoading ? common.loading : query.trim() === '' ? strings.noFiles : common.nothingFound(query.trim())}
          </p>
        )}
        <p id={hintId} className="soft small">
          {count === 0 && (isSingle ? strings.chooseSingleFirst : strings.chooseFirst)}
        </p>
        <div className="row end">
          <TextButton onClick={closeDialog}>{common.cancel}</TextButton>
          {/* A `disabled` button could not receive the focus, so screen readers would not read the reason. */}
          <button type="submit" className="button primary" aria-disabled={count === 0} aria-describedby={hintId}>
            {isSingle ? strings.useFile : strings.attach}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** Attaches the content of a small file instead of its reference, because not all models can read references. */
async function toMessageAttachment(service: Service, item: StoredItem): Promise<Attachment> {
  const attachment = toAttachment(item);
  const { title = '', type = '' } = attachment;
  if (item.bytes === undefined || item.bytes > maxInlineBytes) return attachment;
  const file = new File([await readContent(service, attachment)], title, { type });
  return attachFile(service, file, { onProgress: () => undefined, signal: AbortSignal.timeout(readTimeoutMs) });
}

function toAttachment({ name, reference, type }: StoredItem): Attachment {
  return { ...(type !== undefined && { type }), title: name, url: reference };
}
