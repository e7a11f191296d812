import { type DragEvent, useRef, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { saveFile } from '../parts/save-file.ts';
import { Trouble } from '../parts/trouble.tsx';
import { useQuestion } from '../parts/use-question.tsx';
import { type Fault, faultOf } from '../service/fault.ts';
import { FileList } from './file-list.tsx';
import { useFilesWords } from './files-words.ts';
import { FolderPath } from './folder-path.tsx';
import { NewFolder } from './new-folder.tsx';
import { StoredFiles, type StoredItem } from './stored-files.ts';
import { StoringList } from './storing-list.tsx';
import { useFolder } from './use-folder.ts';
import { useStoring } from './use-storing.ts';
import './files.css';

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
