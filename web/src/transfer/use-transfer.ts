import { useRef, useState } from 'react';
import type { Conversation } from '../conversation/conversation.ts';
import { toExportJson } from '../conversation/export.ts';
import { usePage } from '../page/page.tsx';
import { saveFile } from '../parts/save-file.ts';
import { type ImportReport, importFile } from './import-file.ts';
import { UnreadableFile } from './item-splitter.ts';

/** How far conversations are on their way, or what came of it. */
export type Transfer =
  | { readonly at: 'nothing' }
  | { readonly at: 'reading' | 'writing'; readonly share: number; readonly count: number }
  | { readonly at: 'read'; readonly report: ImportReport; readonly isStopped: boolean }
  | { readonly at: 'written'; readonly count: number; readonly missing: number }
  | { readonly at: 'failed'; readonly why: 'form' | 'large' | 'other' };

interface TransferTools {
  readonly transfer: Transfer;
  readonly takeOut: () => void;
  readonly bringIn: (file: File) => void;
  readonly stop: () => void;
}

const drawnEveryMs = 100;

/** Writes all conversations to a file, and reads those of one. */
export function useTransfer(): TransferTools {
  const { library, deployments } = usePage();
  const [transfer, setTransfer] = useState<Transfer>({ at: 'nothing' });
  const leaving = useRef(new AbortController());
  const run = async (act: (signal: AbortSignal) => Promise<Transfer>): Promise<void> => {
    leaving.current = new AbortController();
    const { signal } = leaving.current;
    const failed = (thrown: unknown): Transfer => {
      if (signal.aborted) return { at: 'nothing' };
      return { at: 'failed', why: thrown instanceof UnreadableFile ? thrown.why : 'other' };
    };
    setTransfer(await act(signal).catch(failed));
  };
  const progress = (at: 'reading' | 'writing') => {
    let drawnAt = 0;
    setTransfer({ at, share: 0, count: 0 });
    return (share: number, count: number): void => {
      if (performance.now() - drawnAt < drawnEveryMs) return;
      drawnAt = performance.now();
      setTransfer({ at, share, count });
    };
  };
  return {
    transfer,
    takeOut: () =>
      void run(async (signal) => {
        const draw = progress('writing');
        const ids = await library.allIds();
        const read = (id: string) => library.readWhole(id);
        const { file, missing } = await exportAll({ ids, read, signal, onProgress: (share) => draw(share, 0) });
        saveFile(`parley-${new Date().toISOString().slice(0, 10)}.json`, file);
        return { at: 'written', count: ids.length - missing, missing };
      }),
    bringIn: (chosen) =>
      void run(async (signal) => {
        const draw = progress('reading');
        const [first] = deployments;
        try {
          const report = await importFile(chosen, {
            take: (conversation) => library.takeFromFile(conversation),
            deploymentFor: (model) => (deployments.some(({ id }) => id === model) ? model : (first?.id ?? '')),
            onProgress: (share, { added, merged, same, refused }) => draw(share, added + merged + same + refused),
            signal,
          });
          return { at: 'read', report, isStopped: signal.aborted };
        } finally {
          await library.showTaken();
        }
      }),
    stop: () => leaving.current.abort(),
  };
}

interface ExportParts {
  readonly ids: readonly string[];
  /** Undefined if it was deleted meanwhile. */
  readonly read: (id: string) => Promise<Conversation | undefined>;
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
}

/** A file with all conversations, each with all its branches: a list of what is written for a single one. */
export async function exportAll({ ids, read, onProgress, signal }: ExportParts): Promise<{ file: Blob; missing: number }> {
  const pieces: Blob[] = [];
  let missing = 0;
  for (const [at, id] of ids.entries()) {
    signal.throwIfAborted();
    const conversation = await read(id);
    if (conversation === undefined) missing += 1;
    // Texts are given out of memory as they are written.
    else pieces.push(new Blob([pieces.length === 0 ? '[' : ',', toExportJson(conversation)]));
    onProgress((at + 1) / ids.length);
  }
  const file = new Blob([...(pieces.length === 0 ? ['['] : pieces), ']\n'], { type: 'application/json' });
  return { file, missing };
}
