import { type KeyboardEvent, useEffect, useId, useMemo, useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { isComposing } from '../parts/is-composing.ts';
import { useShownDialog } from '../parts/use-shown-dialog.ts';
import type { Command } from './command-registry.ts';
import { best } from './match.ts';
import { usePaletteWords } from './palette-words.ts';
import { useAllCommands } from './use-all-commands.ts';
import '../parts/question-dialog.css';
import './palette.css';

const mostShown = 40;
/** Of each kind, before anything is written. */
const mostOfKind = 5;

/** Everything that can be done or gone to, found by a few letters of its name. */
export function Palette({ close }: { readonly close: () => void }) {
  const words = usePaletteWords();
  const all = useAllCommands();
  const { dialog, leave } = useShownDialog(close);
  const ids = useId();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const found = useMemo(() => (query.trim() === '' ? firstOfEach(all) : best(all, query).slice(0, mostShown)), [all, query]);
  const idOf = (place: number): string => `${ids}-${place}`;
  useEffect(() => {
    document.getElementById(`${ids}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [ids, at]);
  const pick = (command: Command | undefined): void => {
    if (command === undefined) return;
    leave();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isComposing(event.nativeEvent)) return;
    if (event.key === 'Enter') pick(found[at]);
    else if (event.key === 'ArrowDown') setAt((at + 1) % Math.max(found.length, 1));
    else if (event.key === 'ArrowUp') setAt((at + found.length - 1) % Math.max(found.length, 1));
    else return;
    event.preventDefault();
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog palette', 'aria-label': words.title, closedby: 'any' }}>
      <div className="search">
        <Icon name="search" />
        <input
          {...{ type: 'text', role: 'combobox', autoComplete: 'off', spellCheck: false, value: query, onKeyDown }}
          {...{ 'aria-label': words.title, 'aria-autocomplete': 'list', 'aria-expanded': true, 'aria-controls': ids }}
          aria-activedescendant={found.length > 0 ? idOf(at) : undefined}
          placeholder={words.placeholder}
          onChange={({ target }) => {
            setQuery(target.value);
            setAt(0);
          }}
        />
      </div>
      <div className="palette-list" id={ids} role="listbox" aria-label={words.title}>
        {found.map((command, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys arrive in the field, which keeps the focus
          <div
            key={command.id}
            role="option"
            id={idOf(place)}
            tabIndex={-1}
            aria-selected={place === at}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => pick(command)}
          >
            <Icon name={command.icon} />
            <span className="palette-title">{command.title}</span>
            <span className="soft small">{words[command.kind]}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="soft">{words.nothing(query.trim())}</p>}
      <p className="heard-only" role="status">
        {query.trim() !== '' && words.found(found.length)}
      </p>
    </dialog>
  );
}

/** What is gone back to most comes first. */
function firstOfEach(all: readonly Command[]): readonly Command[] {
  const of = (wanted: Command['kind']): readonly Command[] => all.filter(({ kind }) => kind === wanted);
  const some = (['conversation', 'deployment'] as const).flatMap((kind) => of(kind).slice(0, mostOfKind));
  const [begin, ...actions] = of('action').toSorted((one, other) => Number(other.id === 'new') - Number(one.id === 'new'));
  return [...(begin === undefined ? [] : [begin]), ...some, ...of('view'), ...actions];
}
