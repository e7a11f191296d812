import { PlainText } from '../markdown/long-text.tsx';
import { useStrings } from '../strings/strings.tsx';
import type { CitedSource } from './citations.ts';
import './sources.css';

const maxExcerptChars = 60;

interface SourceRowProps {
  readonly sources: readonly CitedSource[];
  /** Number of the selected source. */
  readonly selected: number | undefined;
  readonly show: (number: number) => void;
}

/** Sources that a text cites, by number. */
export function SourceRow({ sources, selected, show }: SourceRowProps) {
  const strings = useStrings();
  const isRepeated = (name: string): boolean => sources.filter((source) => source.name === name).length > 1;
  return (
    <ul className="sources" aria-label={strings.sources}>
      {sources.map(({ number, name, attachment }) => (
        <li key={number}>
          <button
            {...{ type: 'button', className: 'source-chip', title: name, 'aria-haspopup': 'dialog' }}
            aria-current={number === selected ? 'true' : undefined}
            onClick={() => show(number)}
          >
            <span className="source-number">{number}</span>
            <span className="source-name">
              <PlainText text={isRepeated(name) ? (getExcerpt(attachment) ?? name) : name} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Returns the start of a quoted passage, which distinguishes passages of one document. */
function getExcerpt({ data, type = 'text/markdown' }: CitedSource['attachment']): string | undefined {
  const text = data !== undefined && /^text\//i.test(type) ? data.trim().replace(/\s+/g, ' ') : '';
  return text === '' ? undefined : `“${text.slice(0, maxExcerptChars)}${text.length > maxExcerptChars ? '…' : ''}”`;
}
