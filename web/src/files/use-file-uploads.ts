import { useEffect, useRef, useState } from 'react';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import type { StoredFiles } from './stored-files.ts';

/** A file that waits for its upload or is being uploaded, or whose upload failed. */
export interface PendingUpload {
  readonly id: string;
  readonly name: string;
  /** Fraction from 0 to 1. */
  readonly share: number;
  readonly error?: ErrorDetails;
}

interface UploadOptions {
  readonly files: StoredFiles;
  readonly folder: string;
  /** Called if a file with this name exists. Resolves with whether it may be replaced. */
  readonly mayReplace: (name: string) => Promise<boolean>;
  readonly onStored: (name: string) => void;
}

interface FileUploads {
  readonly uploads: readonly PendingUpload[];
  readonly add: (newFiles: Iterable<File>) => void;
  /** Cancels an upload, or removes a failed one from the list. */
  readonly remove: (id: string) => void;
}

/** Uploads files one after the other. Completed uploads are removed from the list. */
export function useFileUploads({ files, folder, mayReplace, onStored }: UploadOptions): FileUploads {
  const [uploads, setUploads] = useState<readonly PendingUpload[]>([]);
  const running = useRef(new Map<string, AbortController>());
  const last = useRef(Promise.resolve());
  useEffect(() => {
    const controllers = running.current;
    return () => {
      for (const controller of controllers.values()) controller.abort();
    };
  }, []);
  const remove = (id: string): void => {
    running.current.get(id)?.abort();
    running.current.delete(id);
    setUploads((now) => now.filter((item) => item.id !== id));
  };
  const store = async (id: string, file: File, signal: AbortSignal): Promise<void> => {
    const change = (part: Partial<PendingUpload>): void => {
      if (!signal.aborted) setUploads((now) => now.map((item) => (item.id === id ? { ...item, ...part } : item)));
    };
    const path = folder === '' ? file.name : `${folder}/${file.name}`;
    try {
      if (signal.aborted) return;
      if (!(await files.has(path)) || (await mayReplace(file.name))) {
        await files.store(path, file, { onProgress: (share) => change({ share }), signal });
        onStored(file.name);
      }
      remove(id);
    } catch (error) {
      change({ error: toErrorDetails(error) });
    }
  };
  const add = (newFiles: Iterable<File>): void => {
    for (const file of newFiles) {
      const id = crypto.randomUUID();
      const controller = new AbortController();
      running.current.set(id, controller);
      setUploads((now) => [...now, { id, name: file.name, share: 0 }]);
      last.current = last.current.then(() => store(id, file, controller.signal));
    }
  };
  return { uploads, add, remove };
}
