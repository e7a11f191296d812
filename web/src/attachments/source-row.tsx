import { useStrings } from '../strings/strings.tsx';
import type { CitedSource } from './cited.ts';
import './sources.css';

interface SourceRowProps {
  readonly cited: readonly CitedSource[];
  /** Number of the selected source. */
  readonly selected: number | undefined;
  readonly show: (number: number) => void;
}

/** Sources that a text cites, by number. */
export function SourceRow({ cited, selected, show }: SourceRowProps) {
  const strings = useStrings();
  return (
    <ul className="sources" aria-label={strings.sources}>
      {cited.map(({ number, name }) => (
        <li key={number}>
          <button
            {...{ type: 'button', className: 'source-chip', title: name, 'aria-haspopup': 'dialog' }}
            aria-current={number === selected ? 'true' : undefined}
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
