import { useId, useRef, useState } from 'react';
import type { Conversation } from '../conversation/conversation.ts';
import { toExportJson } from '../conversation/export.ts';
import { FileButton, saveFile } from '../parts/device-files.tsx';
import { TextButton } from '../parts/icon.tsx';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { usePage } from '../shell/page.tsx';
import { useLocalizedStrings, useStrings } from '../strings/strings.tsx';
import { type ImportReport, importFile } from './import-file.ts';
import { UnreadableFileError } from './item-splitter.ts';
import '../parts/question-dialog.css';
import './transfer.css';
import { transferGerman } from '../locales/de/transfer.ts';
import { type TransferStrings, transferEnglish } from '../locales/en/transfer.ts';
import { transferSpanish } from '../locales/es/transfer.ts';
import { transferFrench } from '../locales/fr/transfer.ts';

/** Exports all chats to a file, and imports chats from one. */
export function TransferDialog({ close: onClose }: { readonly close: () => void }) {
  const strings = useTransferStrings();
  const { storageFailed, stop: stopLabel, close: closeLabel } = useStrings();
  const { isStorageUnavailable } = usePage();
  const titleId = useId();
  const { transfer, exportConversations, importConversations, stop } = useTransfer();
  const isBusy = transfer.phase === 'reading' || transfer.phase === 'writing';
  const { dialog, closeDialog } = useModalDialog(() => {
    stop();
    onClose();
  });
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog transfer-dialog', 'aria-labelledby': titleId }}>
      <h2 id={titleId}>{strings.transferTitle}</h2>
      <p className="soft">{strings.exportIntro}</p>
      <button {...{ type: 'button', className: 'button', disabled: isBusy }} onClick={exportConversations}>
        {strings.exportAll}
      </button>
      <p className="soft">{isStorageUnavailable ? storageFailed : strings.importIntro}</p>
      <FileButton
        {...{ label: strings.chooseFile, accept: '.json,application/json', isDisabled: isBusy || isStorageUnavailable }}
        onFile={importConversations}
      />
      <TransferStatus transfer={transfer} />
      <div className="row end">
        {isBusy && <TextButton onClick={stop}>{stopLabel}</TextButton>}
        <TextButton onClick={closeDialog}>{closeLabel}</TextButton>
      </div>
    </dialog>
  );
}

function TransferStatus({ transfer }: { readonly transfer: TransferState }) {
  const strings = useTransferStrings();
  if (transfer.phase === 'reading' || transfer.phase === 'writing') {
    const label = transfer.phase === 'writing' ? strings.exporting : strings.importing(transfer.count);
    return (
      <div>
        <progress value={transfer.fraction} aria-label={label} />
        <p className="small soft">{label}</p>
      </div>
    );
  }
  const lines = formatResult(transfer, strings);
  return (
    <div role="status" className={transfer.phase === 'failed' ? 'error-text' : ''}>
      {lines.map((line) => (
        <p key={line} className="small">
          {line}
        </p>
      ))}
    </div>
  );
}

/** Returns the lines that describe the result. */
function formatResult(transfer: TransferState, strings: TransferStrings): readonly string[] {
  if (transfer.phase === 'failed') {
    const { unknownFormat, tooLarge, importFailed, exportFailed } = strings;
    return [{ format: unknownFormat, large: tooLarge, import: importFailed, export: exportFailed }[transfer.reason]];
  }
  if (transfer.phase === 'written')
    return [strings.exported(transfer.count), ...(transfer.missing > 0 ? [strings.exportMissing(transfer.missing)] : [])];
  if (transfer.phase !== 'read') return [];
  const { added, merged, same, rejected, dropped, isTruncated } = transfer.report;
  const parts = [
    strings.added(added),
    ...(merged > 0 ? [strings.merged(merged)] : []),
    ...(same > 0 ? [strings.same(same)] : []),
    ...(rejected > 0 ? [strings.rejected(rejected)] : []),
  ];
  return [
    ...(transfer.isStopped ? [strings.importStopped] : []),
    `${parts.join('; ')}.`,
    ...(dropped.files > 0 ? [strings.droppedFiles(dropped.files)] : []),
    ...(dropped.steps > 0 ? [strings.droppedSteps(dropped.steps)] : []),
    ...(isTruncated ? [strings.importTruncated] : []),
  ];
}

/** Texts of the transfer dialog, in a separate chunk that only the dialog loads. */
function useTransferStrings(): TransferStrings {
  return useLocalizedStrings({ en: transferEnglish, de: transferGerman, fr: transferFrench, es: transferSpanish });
}

/** Progress or result of a transfer. */
type TransferState =
  | { readonly phase: 'idle' }
  | { readonly phase: 'reading' | 'writing'; readonly fraction: number; readonly count: number }
  | { readonly phase: 'read'; readonly report: ImportReport; readonly isStopped: boolean }
  | { readonly phase: 'written'; readonly count: number; readonly missing: number }
  | { readonly phase: 'failed'; readonly reason: 'format' | 'large' | 'import' | 'export' };

interface TransferActions {
  readonly transfer: TransferState;
  readonly exportConversations: () => void;
  readonly importConversations: (file: File) => void;
  readonly stop: () => void;
}

const progressIntervalMs = 100;

/** Exports all chats to a file, and imports the chats of a file. */
function useTransfer(): TransferActions {
  const { library, deployments } = usePage();
  const [transfer, setTransfer] = useState<TransferState>({ phase: 'idle' });
  const controller = useRef(new AbortController());
  const run = async (kind: 'import' | 'export', operation: (signal: AbortSignal) => Promise<TransferState>): Promise<void> => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    const toFailedState = (error: unknown): TransferState => {
      if (signal.aborted) return { phase: 'idle' };
      return { phase: 'failed', reason: error instanceof UnreadableFileError ? error.reason : kind };
    };
    setTransfer(await operation(signal).catch(toFailedState));
  };
  const startProgress = (phase: 'reading' | 'writing') => {
    let updatedAt = 0;
    setTransfer({ phase, fraction: 0, count: 0 });
    return (fraction: number, count = 0): void => {
      if (performance.now() - updatedAt < progressIntervalMs) return;
      updatedAt = performance.now();
      setTransfer({ phase, fraction, count });
    };
  };
  return {
    transfer,
    exportConversations: () =>
      void run('export', async (signal) => {
        const update = startProgress('writing');
        const ids = await library.listAllIds();
        const loadConversation = (id: string) => library.readFull(id);
        const { file, missing } = await exportAll({ ids, loadConversation, signal, onProgress: update });
        saveFile(`parley-${new Date().toISOString().slice(0, 10)}.json`, file);
        return { phase: 'written', count: ids.length - missing, missing };
      }),
    importConversations: (selectedFile) =>
      void run('import', async (signal) => {
        const update = startProgress('reading');
        const [firstDeployment] = deployments;
        try {
          const report = await importFile(selectedFile, {
            store: (conversation) => library.importConversation(conversation),
            getDeployment: (model) => (deployments.some(({ id }) => id === model) ? model : (firstDeployment?.id ?? '')),
            onProgress: (fraction, { added, merged, same, rejected }) => update(fraction, added + merged + same + rejected),
            signal,
          });
          return { phase: 'read', report, isStopped: signal.aborted };
        } finally {
          await library.showImported();
        }
      }),
    stop: () => controller.current.abort(),
  };
}

interface ExportOptions {
  readonly ids: readonly string[];
  /** Resolves with undefined if the chat cannot be read or no longer exists. */
  readonly loadConversation: (id: string) => Promise<Conversation | undefined>;
  /** Called with the exported fraction of the chats. */
  readonly onProgress: (fraction: number) => void;
  readonly signal: AbortSignal;
}

/** Builds a file with all chats and their branches, as a list of single exports. */
export async function exportAll({
  ids,
  loadConversation,
  onProgress,
  signal,
}: ExportOptions): Promise<{ file: Blob; missing: number }> {
  const pieces: Blob[] = [];
  let missing = 0;
  for (const [index, id] of ids.entries()) {
    signal.throwIfAborted();
    const conversation = await loadConversation(id);
    if (conversation === undefined) missing += 1;
    // Browsers can store large blobs on disk, so the file does not have to fit into memory.
    else pieces.push(new Blob([pieces.length === 0 ? '[' : ',', toExportJson(conversation)]));
    onProgress((index + 1) / ids.length);
  }
  const file = new Blob([...(pieces.length === 0 ? ['['] : pieces), ']\n'], { type: 'application/json' });
  return { file, missing };
}
