import type { Tokens } from 'marked';
import { memo, useState } from 'react';
import { useLanguage } from '../words/words.tsx';
import { Inline } from './inline.tsx';
import { isRightToLeft } from './is-right-to-left.ts';

const rowsAtFirst = 100;

/** Of a long table the beginning; the rest when it is asked for. */
export function Table({ token: { header, rows, align } }: { readonly token: Tokens.Table }) {
  const { words, language } = useLanguage();
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? rows : rows.slice(0, rowsAtFirst);
  const hidden = rows.length - shown.length;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard */}
      <div className="table-frame" tabIndex={0}>
        <table dir={isRightToLeft(header.map(({ text }) => text).join(' ')) ? 'rtl' : undefined}>
          <thead>
            <tr>
              {header.map((cell, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other identity and never move
                <th key={at} scope="col" dir={toCellDirection(cell)} className={align[at] ?? undefined}>
                  <Inline tokens={cell.tokens} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <Row key={at} row={row} />
            ))}
          </tbody>
        </table>
      </div>
      {hidden > 0 && (
        <button type="button" className="button slim" onClick={() => setShowsAll(true)}>
          {words.showMoreRows(hidden, language)}
        </button>
      )}
    </>
  );
}

const Row = memo(
  ({ row }: { readonly row: readonly Tokens.TableCell[] }) => (
    <tr>
      {row.map((cell, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: as above
        <td key={at} dir={toCellDirection(cell)} className={cell.align ?? undefined}>
          <Inline tokens={cell.tokens} />
        </td>
      ))}
    </tr>
  ),
  (before, after) =>
    before.row === after.row ||
    (before.row.length === after.row.length && before.row.every(({ text }, at) => text === after.row[at]?.text)),
);

/** A cell without letters, such as a number, has the direction of the table. */
function toCellDirection({ text }: Tokens.TableCell): 'auto' | undefined {
  return /\p{L}/u.test(text) ? 'auto' : undefined;
}
