import { useLanguage } from '../words/words.tsx';
import { readTable } from './read-table.ts';

const mostRows = 200;

/** Separated values as a table; of a long one the beginning. */
export function TableView({ text }: { readonly text: string }) {
  const { words, language } = useLanguage();
  const { rows, isCut } = readTable(text, mostRows);
  const [head = [], ...body] = rows;
  const more = isCut ? text.trimEnd().split('\n').length - mostRows : 0;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard */}
      <section className="table-frame" tabIndex={0} aria-label={words.asTable}>
        <table>
          <thead>
            <tr>
              {head.map((cell, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other identity and never move
                <th key={at} scope="col">
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <tr key={at}>
                {row.map((cell, place) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: as above
                  <td key={place} className={/^-?[\d.,\s]+%?$/.test(cell) ? 'number' : undefined}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {more > 0 && <p className="soft small">{words.moreRows(more.toLocaleString(language))}</p>}
    </>
  );
}
