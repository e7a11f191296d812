import { useId, useRef } from 'react';
import { usePage } from '../page/page.tsx';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { useLocalizedStrings, useStrings } from '../strings/strings.tsx';
import { type TransferState, useTransfer } from './use-transfer.ts';
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
  const input = useRef<HTMLInputElement>(null);
  const title = useId();
  const { transfer, exportConversations, importConversations, stop } = useTransfer();
  const isBusy = transfer.at === 'reading' || transfer.at === 'writing';
  const { dialog, closeDialog } = useModalDialog(() => {
    stop();
    onClose();
  });
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog transfer', 'aria-labelledby': title }}>
      <h2 id={title}>{strings.transferTitle}</h2>
      <p className="soft">{strings.exportIntro}</p>
      <button {...{ type: 'button', className: 'button', disabled: isBusy }} onClick={exportConversations}>
        {strings.exportAll}
      </button>
      <p className="soft">{isStorageUnavailable ? storageFailed : strings.importIntro}</p>
      <button
        {...{ type: 'button', className: 'button', disabled: isBusy || isStorageUnavailable }}
        onClick={() => input.current?.click()}
      >
        {strings.chooseFile}
      </button>
      <input
        {...{ ref: input, type: 'file', accept: '.json,application/json', hidden: true, 'aria-label': strings.chooseFile }}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) importConversations(file);
          target.value = '';
        }}
      />
      <State transfer={transfer} />
      <div className="row end">
        {isBusy && (
          <button type="button" className="button" onClick={stop}>
            {stopLabel}
          </button>
        )}
        <button type="button" className="button" onClick={closeDialog}>
          {closeLabel}
        </button>
      </div>
    </dialog>
  );
}

function State({ transfer }: { readonly transfer: TransferState }) {
  const strings = useTransferStrings();
  if (transfer.at === 'reading' || transfer.at === 'writing') {
    const label = transfer.at === 'writing' ? strings.exporting : strings.importing(transfer.count);
    return (
      <div>
        <progress value={transfer.share} aria-label={label} />
        <p className="small soft">{label}</p>
      </div>
    );
  }
  const lines = toReportLines(transfer, strings);
  return (
    <div role="status" className={transfer.at === 'failed' ? 'trouble' : ''}>
      {lines.map((line) => (
        <p key={line} className="small">
          {line}
        </p>
      ))}
    </div>
  );
}

/** Describes the result. */
function toReportLines(transfer: TransferState, strings: TransferStrings): readonly string[] {
  if (transfer.at === 'failed')
    return [{ form: strings.unknownForm, large: strings.tooLarge, other: strings.transferFailed }[transfer.reason]];
  if (transfer.at === 'written')
    return [strings.exported(transfer.count), ...(transfer.missing > 0 ? [strings.exportMissing(transfer.missing)] : [])];
  if (transfer.at !== 'read') return [];
  const { added, merged, same, rejected, dropped, isTruncated } = transfer.report;
  const parts = [
    strings.added(added),
    ...(merged > 0 ? [strings.merged(merged)] : []),
    ...(same > 0 ? [strings.same(same)] : []),
    ...(rejected > 0 ? [strings.refused(rejected)] : []),
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
