import { useEffect, useRef, useState } from 'react';
import { Icon, IconButton } from '../parts/icon.tsx';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { describeError } from '../strings/describe-error.ts';
import { useStrings } from '../strings/strings.tsx';
import { useFilesStrings } from './files-strings.ts';
import type { StoredFiles } from './stored-files.ts';
import './files.css';

/** A file that waits for its upload or is being uploaded, or whose upload failed. */
interface PendingUpload {
  readonly id: string;
  readonly name: string;
  /** Fraction from 0 to 1. */
  readonly progress: number;
  readonly error?: ErrorDetails;
}

interface UploadOptions {
  readonly files: StoredFiles;
  /** Returns the path at which a file with this name is stored. */
  readonly toPath: (name: string) => string;
  /** Returns whether an existing file with this name may be replaced. If undefined, uploads replace files without a check. */
  readonly mayReplace?: (name: string) => Promise<boolean>;
  readonly onStored: (name: string, reference: string) => void;
}

interface FileUploads {
  readonly uploads: readonly PendingUpload[];
  readonly add: (newFiles: Iterable<File>) => void;
  /** Cancels an upload, or removes a failed one from the list. */
  readonly remove: (id: string) => void;
}

/** Uploads files one after the other. Completed uploads are removed from the list. */
export function useFileUploads({ files, toPath, mayReplace, onStored }: UploadOptions): FileUploads {
  const [uploads, setUploads] = useState<readonly PendingUpload[]>([]);
  const abortControllers = useRef(new Map<string, AbortController>());
  const lastUpload = useRef(Promise.resolve());
  useEffect(() => {
    const controllers = abortControllers.current;
    return () => {
      for (const controller of controllers.values()) controller.abort();
    };
  }, []);
  const remove = (id: string): void => {
    abortControllers.current.get(id)?.abort();
    abortControllers.current.delete(id);
    setUploads((current) => current.filter((item) => item.id !== id));
  };
  const store = async (id: string, file: File, signal: AbortSignal): Promise<void> => {
    const change = (part: Partial<PendingUpload>): void => {
      if (!signal.aborted) setUploads((current) => current.map((item) => (item.id === id ? { ...item, ...part } : item)));
    };
    const path = toPath(file.name);
    try {
      if (signal.aborted) return;
      if (mayReplace === undefined || !(await files.has(path)) || (await mayReplace(file.name)))
        onStored(file.name, await files.store(path, file, { onProgress: (progress) => change({ progress }), signal }));
      remove(id);
    } catch (error) {
      change({ error: toErrorDetails(error) });
    }
  };
  const add = (newFiles: Iterable<File>): void => {
    for (const file of newFiles) {
      const id = crypto.randomUUID();
      const controller = new AbortController();
      abortControllers.current.set(id, controller);
      setUploads((current) => [...current, { id, name: file.name, progress: 0 }]);
      lastUpload.current = lastUpload.current.then(() => store(id, file, controller.signal));
    }
  };
  return { uploads, add, remove };
}

/** Uploads with their progress. */
export function UploadList({ uploads, remove }: Pick<FileUploads, 'uploads' | 'remove'>) {
  const strings = useStrings();
  const filesStrings = useFilesStrings();
  if (uploads.length === 0) return null;
  return (
    <ul className="file-uploads" aria-label={filesStrings.uploads}>
      {uploads.map(({ id, name, progress, error }) => (
        <li key={id} className={error === undefined ? undefined : 'error-text'}>
          <Icon name={error === undefined ? 'file' : 'alert'} />
          <span className="file-upload-name">
            {error === undefined ? name : strings.uploadFailed(name, describeError(error, strings))}
          </span>
          {error === undefined && <progress value={progress} aria-label={strings.uploading(name, Math.round(progress * 100))} />}
          <IconButton
            icon="close"
            label={error === undefined ? filesStrings.stop(name) : filesStrings.dismiss(name)}
            onClick={() => remove(id)}
          />
        </li>
      ))}
    </ul>
  );
}
