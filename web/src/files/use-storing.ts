import { useEffect, useRef, useState } from 'react';
import { type Fault, faultOf } from '../service/fault.ts';
import type { StoredFiles } from './stored-files.ts';

/** A file on its way into the store. */
export interface Storing {
  readonly id: string;
  readonly name: string;
  /** From 0 to 1. */
  readonly share: number;
  readonly fault?: Fault;
}

interface StoringTools {
  readonly files: StoredFiles;
  readonly folder: string;
  /** Asks whether the file of this name may be replaced. */
  readonly mayReplace: (name: string) => Promise<boolean>;
  readonly onStored: (name: string) => void;
}

interface StoringState {
  readonly all: readonly Storing[];
  readonly add: (chosen: Iterable<File>) => void;
  /** Stops one, or takes one that failed off the list. */
  readonly remove: (id: string) => void;
}

/** Stores what is added, one after another; what is stored leaves the list. */
export function useStoring({ files, folder, mayReplace, onStored }: StoringTools): StoringState {
  const [all, setAll] = useState<readonly Storing[]>([]);
  const running = useRef(new Map<string, AbortController>());
  const last = useRef(Promise.resolve());
  useEffect(() => {
    const each = running.current;
    return () => {
      for (const leaving of each.values()) leaving.abort();
    };
  }, []);
  const remove = (id: string): void => {
    running.current.get(id)?.abort();
    running.current.delete(id);
    setAll((now) => now.filter((each) => each.id !== id));
  };
  const store = async (id: string, file: File, signal: AbortSignal): Promise<void> => {
    const change = (part: Partial<Storing>): void => {
      if (!signal.aborted) setAll((now) => now.map((each) => (each.id === id ? { ...each, ...part } : each)));
    };
    const path = folder === '' ? file.name : `${folder}/${file.name}`;
    try {
      if (signal.aborted) return;
      if (!(await files.has(path)) || (await mayReplace(file.name))) {
        await files.store(path, file, { onProgress: (share) => change({ share }), signal });
        onStored(file.name);
      }
      remove(id);
    } catch (thrown) {
      change({ fault: faultOf(thrown) });
    }
  };
  const add = (chosen: Iterable<File>): void => {
    for (const file of chosen) {
      const id = crypto.randomUUID();
      const leaving = new AbortController();
      running.current.set(id, leaving);
      setAll((now) => [...now, { id, name: file.name, share: 0 }]);
      last.current = last.current.then(() => store(id, file, leaving.signal));
    }
  };
  return { all, add, remove };
}
