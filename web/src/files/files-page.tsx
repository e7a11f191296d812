import { type DragEvent, type FormEvent, useCallback, useId, useRef, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { useQuestion } from '../parts/question-dialog.tsx';
import { saveFile } from '../parts/save-file.ts';
import { Trouble } from '../parts/trouble.tsx';
import { type Fault, faultOf } from '../service/fault.ts';
import { FileList } from './file-list.tsx';
import { useFilesWords } from './files-words.ts';
import { type FolderPage, StoredFiles, type StoredItem } from './stored-files.ts';
import { type Storing, useStoring } from './use-storing.ts';
import './files.css';
import { toHash } from '../page/place.ts';
import { isComposing } from '../parts/is-composing.ts';
import { useLoaded } from '../parts/use-loaded.ts';
import { saidOf } from '../words/fault-words.ts';
import { useWords } from '../words/words.tsx';

interface FilesPageProps {
  /** Undefined: all files. */
  readonly folder: string | undefined;
  readonly openMenu: () => void;
}

/** The user's own stored files. */
export function FilesPage({ folder = '', openMenu }: FilesPageProps) {
  const { title } = useFilesWords();
  const { service } = usePage();
  const [files] = useState(() => new StoredFiles(service));
  return (
    <NamedPage name={title} openMenu={openMenu}>
      <FolderView {...{ files, folder }} />
    </NamedPage>
  );
}

/** What lies in a folder, and what can be done with it. */
function FolderView({ files, folder }: { readonly files: StoredFiles; readonly folder: string }) {
  const words = useFilesWords();
  const { items, fault, isLoading, more, reload } = useFolder(files, folder);
  const { ask, dialog } = useQuestion();
  const { fault: failed, tell, download, remove } = useFileActs({ files, ask, reload });
  const storing = useStoring({
    ...{ files, folder },
    mayReplace: (name) => ask(words.replaceQuestion(name), words.replaceAnswer),
    onStored: (name) => tell(words.uploaded(name)),
  });
  const dropping = useDropping(storing.add);
  const look = dropping.isDropping ? 'sheet files dropping' : 'sheet files';
  if (fault?.code === 'route_not_found') {
    return (
      <div className="sheet">
        <h1>{words.title}</h1>
        <p className="soft">{words.noStore}</p>
      </div>
    );
  }
  return (
    <div className={look} aria-busy={isLoading} {...dropping.handlers}>
      <h1>{words.title}</h1>
      <Trouble fault={failed ?? fault} />
      <p className="soft">{words.intro}</p>
      <div className="row">
        <UploadButton add={storing.add} />
        <NewFolder folder={folder} />
      </div>
      <FolderPath folder={folder} />
      <StoringList {...storing} />
      {items?.length === 0 && <p className="soft files-empty">{folder === '' ? words.emptyRoot : words.empty}</p>}
      {items !== undefined && items.length > 0 && <FileList {...{ folder, items, download, remove }} />}
      {more !== undefined && (
        <button type="button" className="button" onClick={more}>
          {words.more}
        </button>
      )}
      {dropping.isDropping && <p className="drop-note">{words.drop}</p>}
      {dialog}
    </div>
  );
}

interface FileActTools {
  readonly files: StoredFiles;
  readonly ask: (question: string, answer: string) => Promise<boolean>;
  readonly reload: () => void;
}

function useFileActs({ files, ask, reload }: FileActTools) {
  const words = useFilesWords();
  const { announce } = usePage();
  const [fault, setFault] = useState<Fault>();
  const fail = (thrown: unknown): void => setFault(faultOf(thrown));
  /** Says what was done, and shows it. */
  const tell = (text: string): void => {
    setFault(undefined);
    announce(text);
    reload();
  };
  const download = (item: StoredItem): void => {
    files.read(item).then((content) => saveFile(item.name, content), fail);
  };
  const remove = async (item: StoredItem): Promise<void> => {
    if (!(await ask(words.removeQuestion(item.name), words.removeAnswer))) return;
    await files.remove(item).then(() => tell(words.removed(item.name)), fail);
  };
  return { fault, tell, download, remove };
}

function useDropping(add: (chosen: Iterable<File>) => void) {
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

function UploadButton({ add }: { readonly add: (chosen: Iterable<File>) => void }) {
  const filesWords = useFilesWords();
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        {...{ ref: picker, type: 'file', multiple: true, hidden: true, 'aria-label': filesWords.choose }}
        onChange={({ target }) => {
          add([...(target.files ?? [])]);
          target.value = '';
        }}
      />
      <button type="button" className="button primary" onClick={() => picker.current?.click()}>
        <Icon name="plus" />
        {filesWords.choose}
      </button>
    </>
  );
}

/** The way from all files to a folder. */
function FolderPath({ folder }: { readonly folder: string }) {
  const words = useFilesWords();
  const names = folder === '' ? [] : folder.split('/');
  const steps = names.map((name, at) => ({ name, path: names.slice(0, at + 1).join('/') }));
  return (
    <nav className="folder-path" aria-label={words.path}>
      <ol>
        <li>
          {steps.length === 0 ? (
            <span aria-current="page">{words.root}</span>
          ) : (
            <a href={toHash({ at: 'files' })}>{words.root}</a>
          )}
        </li>
        {steps.map(({ name, path }, at) => (
          <li key={path}>
            {at === steps.length - 1 ? (
              <span aria-current="page">{name}</span>
            ) : (
              <a href={toHash({ at: 'files', folder: path })}>{name}</a>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Leads to a folder in the one that is open; it is there once a file is in it. */
function NewFolder({ folder }: { readonly folder: string }) {
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

/** Files on their way, each with how far it has come. */
function StoringList({ all, remove }: { readonly all: readonly Storing[]; readonly remove: (id: string) => void }) {
  const words = useWords();
  const filesWords = useFilesWords();
  if (all.length === 0) return null;
  return (
    <ul className="storing" aria-label={filesWords.uploads}>
      {all.map(({ id, name, share, fault }) => (
        <li key={id} className={fault === undefined ? undefined : 'trouble'}>
          <Icon name={fault === undefined ? 'file' : 'alert'} />
          <span className="storing-name">{fault === undefined ? name : words.uploadFailed(name, saidOf(fault, words))}</span>
          {fault === undefined && <progress value={share} aria-label={words.uploading(name, Math.round(share * 100))} />}
          <button
            type="button"
            className="icon-button"
            aria-label={fault === undefined ? filesWords.stop(name) : filesWords.dismiss(name)}
            title={fault === undefined ? filesWords.stop(name) : filesWords.dismiss(name)}
            onClick={() => remove(id)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

interface FolderState {
  /** Undefined until the first page is there. */
  readonly items: readonly StoredItem[] | undefined;
  readonly fault: Fault | undefined;
  readonly isLoading: boolean;
  /** Undefined where nothing is left. */
  readonly more: (() => void) | undefined;
  readonly reload: () => void;
}

/** What lies in a folder, page by page. */
function useFolder(files: StoredFiles, folder: string): FolderState {
  const first = useLoaded(useCallback((signal: AbortSignal) => files.list(folder, undefined, signal), [files, folder]));
  const [further, setFurther] = useState<{ behind: FolderPage; pages: readonly FolderPage[] }>();
  const [fault, setFault] = useState<Fault>();
  const begin = first.value;
  const pages = begin === undefined ? [] : [begin, ...(further?.behind === begin ? further.pages : [])];
  const next = pages.at(-1)?.next;
  const more = (): void => {
    if (begin === undefined) return;
    files.list(folder, next).then(
      (page) => setFurther({ behind: begin, pages: [...pages.slice(1), page] }),
      (thrown: unknown) => setFault(faultOf(thrown)),
    );
  };
  return {
    items: begin && pages.flatMap(({ items }) => items),
    fault: first.fault ?? fault,
    isLoading: first.isLoading,
    more: next === undefined ? undefined : more,
    reload: first.reload,
  };
}
