import type { TransferWords } from './transfer-english.ts';
import type { Transfer } from './use-transfer.ts';

/** What came of it, in words. */
export function toReportLines(transfer: Transfer, words: TransferWords): readonly string[] {
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
