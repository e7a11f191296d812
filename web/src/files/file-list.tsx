import { CopyButton } from '../parts/copy-button.tsx';
import { Icon, IconButton } from '../parts/icon.tsx';
import { formatRoute } from '../shell/route.ts';
import { useLanguage } from '../strings/strings.tsx';
import { useFilesStrings } from './files-strings.ts';
import type { StoredItem } from './stored-files.ts';

interface FileListProps {
  readonly folder: string;
  /** Name of the file that receives the focus. */
  readonly file: string | undefined;
  readonly items: readonly StoredItem[];
  readonly download: (item: StoredItem) => void;
  readonly remove: (item: StoredItem) => unknown;
}

/** Folders and files with their actions. */
export function FileList({ folder, file, items, ...actions }: FileListProps) {
  const strings = useFilesStrings();
  return (
    <table className="file-list">
      <thead>
        <tr>
          <th scope="col">{strings.name}</th>
          <th scope="col" className="file-size">
            {strings.size}
          </th>
          <th scope="col" className="file-time">
            {strings.changed}
          </th>
          <th scope="col">
            <span className="visually-hidden">{strings.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) =>
          item.isFolder ? (
            <FolderRow key={item.reference} {...{ folder, item }} />
          ) : (
            <FileRow key={item.reference} {...{ item, ...actions }} isTarget={item.name === file} />
          ),
        )}
      </tbody>
    </table>
  );
}

function FolderRow({ folder, item: { name } }: { readonly folder: string; readonly item: StoredItem }) {
  const strings = useFilesStrings();
  const path = folder === '' ? name : `${folder}/${name}`;
  return (
    <tr>
      <th scope="row">
        <a className="file-name" href={formatRoute({ at: 'files', folder: path })} aria-label={strings.openFolder(name)}>
          <Icon name="folder" />
          {name}
        </a>
      </th>
      <td className="file-size soft">{strings.folder}</td>
      <td className="file-time" />
      <td />
    </tr>
  );
}

interface FileRowProps extends Pick<FileListProps, 'download' | 'remove'> {
  readonly item: StoredItem;
  readonly isTarget: boolean;
}

const focusFirstButton = (row: HTMLElement | null): void => row?.querySelector('button')?.focus();

function FileRow({ item, isTarget, download, remove }: FileRowProps) {
  const strings = useFilesStrings();
  const { locale } = useLanguage();
  const { name, bytes, changedAtMs, reference } = item;
  const time = changedAtMs === undefined ? undefined : new Date(changedAtMs);
  return (
    <tr ref={isTarget ? focusFirstButton : undefined} aria-current={isTarget || undefined}>
      <th scope="row">
        <span className="file-name">
          <Icon name="file" />
          {name}
        </span>
      </th>
      <td className="file-size">{bytes !== undefined && formatSize(bytes, locale)}</td>
      <td className="file-time soft">
        {time && (
          <time dateTime={time.toISOString()} title={time.toLocaleString(locale)}>
            {time.toLocaleDateString(locale, { dateStyle: 'medium' })}
          </time>
        )}
      </td>
      <td className="file-actions">
        <IconButton icon="save" label={strings.download(name)} onClick={() => download(item)} />
        <CopyButton text={() => reference} label={strings.copyReference(name)} />
        <IconButton icon="trash" label={strings.remove(name)} onClick={() => remove(item)} />
      </td>
    </tr>
  );
}

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** Formats a size, such as “1.2 MB”. */
export function formatSize(bytes: number, locale: string): string {
  const step = Math.min(units.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** step;
  return value.toLocaleString(locale, {
    style: 'unit',
    unit: units[step],
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: step === 0 || value >= 100 ? 0 : 1,
  });
}
