import { useRef, useState } from 'react';
import type { Conversation } from '../conversation/conversation.ts';
import { toExportJson } from '../conversation/export.ts';
import { usePage } from '../page/page.tsx';
import { saveFile } from '../parts/save-file.ts';
import { type ImportReport, importFile } from './import-file.ts';
import { UnreadableFile } from './item-splitter.ts';

/** Progress or result of a transfer. */
export type TransferState =
  | { readonly at: 'nothing' }
  | { readonly at: 'reading' | 'writing'; readonly share: number; readonly count: number }
  | { readonly at: 'read'; readonly report: ImportReport; readonly isStopped: boolean }
  | { readonly at: 'written'; readonly count: number; readonly missing: number }
  | { readonly at: 'failed'; readonly reason: 'form' | 'large' | 'other' };

interface TransferTools {
  readonly transfer: TransferState;
  readonly exportConversations: () => void;
  readonly importConversations: (file: File) => void;
  readonly stop: () => void;
}

const drawIntervalMs = 100;

/** Exports all chats to a file, and imports those of a file. */
export function useTransfer(): TransferTools {
  const { library, deployments } = usePage();
  const [transfer, setTransfer] = useState<TransferState>({ at: 'nothing' });
  const controller = useRef(new AbortController());
  const run = async (act: (signal: AbortSignal) => Promise<TransferState>): Promise<void> => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    const toFailedState = (error: unknown): TransferState => {
      if (signal.aborted) return { at: 'nothing' };
      return { at: 'failed', reason: error instanceof UnreadableFile ? error.reason : 'other' };
    };
    setTransfer(await act(signal).catch(toFailedState));
  };
  const startProgress = (at: 'reading' | 'writing') => {
    let drawnAt = 0;
    setTransfer({ at, share: 0, count: 0 });
    return (share: number, count: number): void => {
      if (performance.now() - drawnAt < drawIntervalMs) return;
      drawnAt = performance.now();
      setTransfer({ at, share, count });
    };
  };
  return {
    transfer,
    exportConversations: () =>
      void run(async (signal) => {
        const draw = startProgress('writing');
        const ids = await library.allIds();
        const loadConversation = (id: string) => library.readFull(id);
        const { file, missing } = await exportAll({ ids, loadConversation, signal, onProgress: (share) => draw(share, 0) });
        saveFile(`parley-${new Date().toISOString().slice(0, 10)}.json`, file);
        return { at: 'written', count: ids.length - missing, missing };
      }),
    importConversations: (selectedFile) =>
      void run(async (signal) => {
        const draw = startProgress('reading');
        const [firstDeployment] = deployments;
        try {
          const report = await importFile(selectedFile, {
            store: (conversation) => library.importConversation(conversation),
            getDeployment: (model) => (deployments.some(({ id }) => id === model) ? model : (firstDeployment?.id ?? '')),
            onProgress: (share, { added, merged, same, rejected: refused }) => draw(share, added + merged + same + refused),
            signal,
          });
          return { at: 'read', report, isStopped: signal.aborted };
        } finally {
          await library.showImported();
        }
      }),
    stop: () => controller.current.abort(),
  };
}

interface ExportParts {
  readonly ids: readonly string[];
  /** Undefined if the chat was deleted in the meantime. */
  readonly loadConversation: (id: string) => Promise<Conversation | undefined>;
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
}

/** Builds a file with all chats and their branches: a list of single exports. */
export async function exportAll({
  ids,
  loadConversation,
  onProgress,
  signal,
}: ExportParts): Promise<{ file: Blob; missing: number }> {
  const pieces: Blob[] = [];
  let missing = 0;
  for (const [index, id] of ids.entries()) {
    signal.throwIfAborted();
    const conversation = await loadConversation(id);
    if (conversation === undefined) missing += 1;
    // Blobs move written texts out of memory.
    else pieces.push(new Blob([pieces.length === 0 ? '[' : ',', toExportJson(conversation)]));
    onProgress((index + 1) / ids.length);
  }
  const file = new Blob([...(pieces.length === 0 ? ['['] : pieces), ']\n'], { type: 'application/json' });
  return { file, missing };
}
