import { useEffect, useRef, useState } from 'react';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import type { StoredFiles } from './stored-files.ts';

/** A file that is being uploaded. */
export interface PendingUpload {
  readonly id: string;
  readonly name: string;
  /** Fraction from 0 to 1. */
  readonly share: number;
  readonly error?: ErrorDetails;
}

interface StoringOptions {
  readonly files: StoredFiles;
  readonly folder: string;
  /** Asks whether a file with this name may be replaced. */
  readonly mayReplace: (name: string) => Promise<boolean>;
  readonly onStored: (name: string) => void;
}

interface FileUploads {
  readonly all: readonly PendingUpload[];
  readonly add: (newFiles: Iterable<File>) => void;
  /** Cancels an upload, or removes a failed one from the list. */
  readonly remove: (id: string) => void;
}

/** Uploads files one after the other. Completed uploads leave the list. */
export function useFileUploads({ files, folder, mayReplace, onStored }: StoringOptions): FileUploads {
  const [all, setAll] = useState<readonly PendingUpload[]>([]);
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
    setAll((now) => now.filter((item) => item.id !== id));
  };
  const store = async (id: string, file: File, signal: AbortSignal): Promise<void> => {
    const change = (part: Partial<PendingUpload>): void => {
      if (!signal.aborted) setAll((now) => now.map((item) => (item.id === id ? { ...item, ...part } : item)));
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
      setAll((now) => [...now, { id, name: file.name, share: 0 }]);
      last.current = last.current.then(() => store(id, file, controller.signal));
    }
  };
  return { all, add, remove };
}
