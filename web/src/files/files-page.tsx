import { type DragEvent, type FormEvent, useCallback, useEffect, useEffectEvent, useId, useState } from 'react';
import { FileButton, saveFile } from '../parts/device-files.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { Icon, TextButton } from '../parts/icon.tsx';
import { isComposing } from '../parts/is-composing.ts';
import { NamedPage } from '../parts/named-page.tsx';
import { useConfirmation } from '../parts/question-dialog.tsx';
import { focusHeading, focusOnMount } from '../parts/use-focus-inside.ts';
import { MoreButton, usePages } from '../parts/use-pages.tsx';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { usePage, useVisibility } from '../shell/page.tsx';
import { formatRoute } from '../shell/route.ts';
import { useStrings } from '../strings/strings.tsx';
import { FileList } from './file-list.tsx';
import { UploadList, useFileUploads } from './file-uploads.tsx';
import { useFilesStrings } from './files-strings.ts';
import { StoredFiles, type StoredItem } from './stored-files.ts';
import './files.css';

interface FilesPageProps {
  /** Path of the folder. Undefined for the root folder. */
  readonly folder?: string;
  /** Name of a file in the folder that receives the focus. */
  readonly file?: string;
  readonly openMenu: () => void;
}

/** The user's stored files. */
export function FilesPage({ openMenu, ...location }: FilesPageProps) {
  return (
    <NamedPage name={useFilesStrings().title} openMenu={openMenu}>
      <FolderView {...location} />
    </NamedPage>
  );
}

/** Content of a folder and its actions. */
function FolderView({ folder = '', file }: Omit<FilesPageProps, 'openMenu'>) {
  const { service } = usePage();
  const [files] = useState(() => new StoredFiles(service));
  const strings = useFilesStrings();
  const visibility = useVisibility();
  const load = useCallback((token?: string, signal?: AbortSignal) => files.list(folder, token, signal), [files, folder]);
  const { pages, error, isLoading, loadMore, reload } = usePages(load);
  const items = pages.flatMap((page) => page.items);
  const isMissing = file !== undefined && pages.length > 0 && !items.some(({ name, isFolder }) => name === file && !isFolder);
  const loadNext = useEffectEvent(() => isMissing && loadMore?.());
  // biome-ignore lint/correctness/useExhaustiveDependencies: the file can be on any page
  useEffect(() => void loadNext(), [pages.length]);
  // The link or form that opened a folder no longer exists.
  useEffect(() => {
    if (folder !== '' && document.activeElement === document.body) focusHeading();
  }, [folder]);
  const { askConfirmation, dialog } = useConfirmation();
  const { error: actionError, reportDone, download, remove } = useFileActions({ files, askConfirmation, reload });
  const fileUploads = useFileUploads({
    files,
    toPath: (name) => (folder === '' ? name : `${folder}/${name}`),
    mayReplace: (name) => askConfirmation(strings.replaceQuestion(name), strings.replaceAnswer),
    onStored: (name) => reportDone(strings.uploaded(name)),
  });
  const { isDropping, handlers } = useFileDrop(fileUploads.add);
  const className = isDropping ? 'sheet files dropping' : 'sheet files';
  if (error?.code === 'route_not_found') {
    return (
      <div className="sheet">
        <h1>{strings.title}</h1>
        <p className="soft">{strings.noStore}</p>
      </div>
    );
  }
  return (
    <div className={className} aria-busy={isLoading} {...handlers}>
      <h1>{strings.title}</h1>
      <ErrorMessage error={actionError} />
      <ErrorMessage error={error} retry={reload} />
      <p className="soft">{strings.intro(visibility)}</p>
      <div className="row">
        <FileButton
          {...{ label: strings.choose, icon: 'plus', className: 'button primary' }}
          isMultiple
          onFile={(file) => fileUploads.add([file])}
        />
        <NewFolder folder={folder} />
      </div>
      <FolderPath folder={folder} />
      <UploadList {...fileUploads} />
      {pages.length > 0 && items.length === 0 && (
        <p className="soft files-empty">{folder === '' ? strings.emptyRoot : strings.empty}</p>
      )}
      {items.length > 0 && <FileList {...{ folder, file, items, download, remove }} />}
      <MoreButton loadMore={loadMore} label={strings.showMore} />
      {isDropping && <p className="drop-note">{strings.drop}</p>}
      {dialog}
    </div>
  );
}

interface FileActionOptions {
  readonly files: StoredFiles;
  readonly askConfirmation: (question: string, answer: string) => Promise<boolean>;
  readonly reload: () => void;
}

function useFileActions({ files, askConfirmation, reload }: FileActionOptions) {
  const strings = useFilesStrings();
  const { announce } = usePage();
  const [error, setError] = useState<ErrorDetails>();
  const fail = (error: unknown): void => setError(toErrorDetails(error));
  /** Announces a completed action and reloads the folder. */
  const reportDone = (text: string): void => {
    setError(undefined);
    announce(text);
    reload();
  };
  const download = (item: StoredItem): void => {
    files.download(item).then((content) => saveFile(item.name, content), fail);
  };
  const remove = async (item: StoredItem): Promise<void> => {
    if (!(await askConfirmation(strings.removeQuestion(item.name), strings.removeAnswer))) return;
    await files.remove(item).then(() => {
      focusHeading();
      reportDone(strings.removed(item.name));
    }, fail);
  };
  return { error, reportDone, download, remove };
}

function useFileDrop(add: (newFiles: Iterable<File>) => void) {
  const [isDropping, setIsDropping] = useState(false);
  const handlers = {
    onDragOver(event: DragEvent): void {
      event.preventDefault();
      setIsDropping(true);
    },
    onDragLeave({ currentTarget, relatedTarget }: DragEvent): void {
      if (!currentTarget.contains(relatedTarget as Node | null)) setIsDropping(false);
    },
    onDrop(event: DragEvent): void {
      event.preventDefault();
      setIsDropping(false);
      add([...event.dataTransfer.files]);
    },
  };
  return { isDropping, handlers };
}

/** Links to the folders on the path from the root. */
function FolderPath({ folder }: { readonly folder: string }) {
  const strings = useFilesStrings();
  const names = folder === '' ? [] : folder.split('/');
  const steps = names.map((name, index) => ({ name, path: names.slice(0, index + 1).join('/') }));
  return (
    <nav className="folder-path" aria-label={strings.path}>
      <ol>
        <li>
          {steps.length === 0 ? (
            <span aria-current="page">{strings.root}</span>
          ) : (
            <a href={formatRoute({ at: 'files' })}>{strings.root}</a>
          )}
        </li>
        {steps.map(({ name, path }, index) => (
          <li key={path}>
            {index === steps.length - 1 ? (
              <span aria-current="page">{name}</span>
            ) : (
              <a href={formatRoute({ at: 'files', folder: path })}>{name}</a>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Opens a new folder inside the current one. The folder exists once it contains a file. */
function NewFolder({ folder }: { readonly folder: string }) {
  const strings = useStrings();
  const filesStrings = useFilesStrings();
  const { go } = usePage();
  const [isOpen, setIsOpen] = useState(false);
  const [isInvalid, setIsInvalid] = useState(false);
  const [fieldId, hintId] = [useId(), useId()];
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name') ?? '').trim();
    setIsInvalid(!isFolderName(name));
    if (isFolderName(name)) go({ at: 'files', folder: folder === '' ? name : `${folder}/${name}` });
  };
  if (!isOpen) {
    return (
      <button type="button" className="button" onClick={() => setIsOpen(true)}>
        <Icon name="folder" />
        {filesStrings.newFolder}
      </button>
    );
  }
  return (
    <form
      className="new-folder"
      onSubmit={submit}
      onKeyDown={({ key, nativeEvent }) => key === 'Escape' && !isComposing(nativeEvent) && setIsOpen(false)}
    >
      <label htmlFor={fieldId}>{filesStrings.folderName}</label>
      <div className="row">
        <input
          {...{ id: fieldId, name: 'name', autoComplete: 'off', ref: focusOnMount }}
          aria-describedby={hintId}
          aria-invalid={isInvalid}
        />
        <button type="submit" className="button">
          {filesStrings.open}
        </button>
        <TextButton className="button quiet" onClick={() => setIsOpen(false)}>
          {strings.cancel}
        </TextButton>
      </div>
      <p id={hintId} className={isInvalid ? 'error-text' : 'soft small'}>
        {isInvalid ? filesStrings.badFolderName : filesStrings.folderHint}
      </p>
    </form>
  );
}

function isFolderName(name: string): boolean {
  return name !== '' && !/^\.{1,2}$|\//.test(name);
}
