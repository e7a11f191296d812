import { useId, useRef } from 'react';
import { usePage } from '../page/page.tsx';
import { useShownDialog } from '../parts/use-shown-dialog.ts';
import { useWords, useWordsOf } from '../words/words.tsx';
import { type Transfer, useTransfer } from './use-transfer.ts';
import '../parts/question-dialog.css';
import './transfer.css';
import { type TransferWords, transferEnglish } from './transfer-english.ts';
import { transferFrench } from './transfer-french.ts';
import { transferGerman } from './transfer-german.ts';
import { transferSpanish } from './transfer-spanish.ts';

/** Takes all conversations along in a file, and brings them from one. */
export function TransferDialog({ close }: { readonly close: () => void }) {
  const words = useTransferWords();
  const { storageFailed, stop: stopWord, close: closeWord } = useWords();
  const { isStorageGone } = usePage();
  const input = useRef<HTMLInputElement>(null);
  const title = useId();
  const { transfer, takeOut, bringIn, stop } = useTransfer();
  const isBusy = transfer.at === 'reading' || transfer.at === 'writing';
  const { dialog, leave } = useShownDialog(() => {
    stop();
    close();
  });
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog transfer', 'aria-labelledby': title }}>
      <h2 id={title}>{words.transferTitle}</h2>
      <p className="soft">{words.exportIntro}</p>
      <button {...{ type: 'button', className: 'button', disabled: isBusy }} onClick={takeOut}>
        {words.exportAll}
      </button>
      <p className="soft">{isStorageGone ? storageFailed : words.importIntro}</p>
      <button
        {...{ type: 'button', className: 'button', disabled: isBusy || isStorageGone }}
        onClick={() => input.current?.click()}
      >
        {words.chooseFile}
      </button>
      <input
        {...{ ref: input, type: 'file', accept: '.json,application/json', hidden: true, 'aria-label': words.chooseFile }}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) bringIn(file);
          target.value = '';
        }}
      />
      <State transfer={transfer} />
      <div className="row end">
        {isBusy && (
          <button type="button" className="button" onClick={stop}>
            {stopWord}
          </button>
        )}
        <button type="button" className="button" onClick={leave}>
          {closeWord}
        </button>
      </div>
    </dialog>
  );
}

function State({ transfer }: { readonly transfer: Transfer }) {
  const words = useTransferWords();
  if (transfer.at === 'reading' || transfer.at === 'writing') {
    const label = transfer.at === 'writing' ? words.exporting : words.importing(transfer.count);
    return (
      <div>
        <progress value={transfer.share} aria-label={label} />
        <p className="small soft">{label}</p>
      </div>
    );
  }
  const lines = toReportLines(transfer, words);
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

/** What came of it, in words. */
function toReportLines(transfer: Transfer, words: TransferWords): readonly string[] {
  if (transfer.at === 'failed')
    return [{ form: words.unknownForm, large: words.tooLarge, other: words.transferFailed }[transfer.why]];
  if (transfer.at === 'written')
    return [words.exported(transfer.count), ...(transfer.missing > 0 ? [words.exportMissing(transfer.missing)] : [])];
  if (transfer.at !== 'read') return [];
  const { added, merged, same, refused, lost, isCut } = transfer.report;
  const parts = [
    words.added(added),
    ...(merged > 0 ? [words.merged(merged)] : []),
    ...(same > 0 ? [words.same(same)] : []),
    ...(refused > 0 ? [words.refused(refused)] : []),
  ];
  return [
    ...(transfer.isStopped ? [words.importStopped] : []),
    `${parts.join('; ')}.`,
    ...(lost.files > 0 ? [words.lostFiles(lost.files)] : []),
    ...(lost.steps > 0 ? [words.lostSteps(lost.steps)] : []),
    ...(isCut ? [words.importCut] : []),
  ];
}

/** What the dialog for taking conversations along says; apart from the other words, so that only who opens it loads it. */
function useTransferWords(): TransferWords {
  return useWordsOf({ en: transferEnglish, de: transferGerman, fr: transferFrench, es: transferSpanish });
}
