import { useWords } from '../words/words.tsx';
import type { CitedSource } from './cited.ts';
import './sources.css';

interface SourceRowProps {
  readonly cited: readonly CitedSource[];
  /** The number of the one that is looked at. */
  readonly shown: number | undefined;
  readonly show: (number: number) => void;
}

/** What a text cites, by number. */
export function SourceRow({ cited, shown, show }: SourceRowProps) {
  const words = useWords();
  return (
    <ul className="sources" aria-label={words.sources}>
      {cited.map(({ number, name }) => (
        <li key={number}>
          <button
            {...{ type: 'button', className: 'source-chip', title: name, 'aria-haspopup': 'dialog' }}
            aria-current={number === shown ? 'true' : undefined}
            onClick={() => show(number)}
          >
            <span className="source-number">{number}</span>
            <span className="source-name">{name}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
