import { type KeyboardEvent, useEffect, useId, useMemo, useState } from 'react';
import { Icon, type IconName } from '../parts/icon.tsx';
import { isComposing } from '../parts/is-composing.ts';
import { useShownDialog } from '../parts/use-shown-dialog.ts';
import type { Command } from './command-registry.ts';
import { usePaletteWords } from './palette-words.ts';
import '../parts/question-dialog.css';
import './palette.css';
import { escapePattern } from '#base/text/escape-pattern.ts';
import { usePage } from '../page/page.tsx';
import type { Place } from '../page/place.ts';
import type { Words } from '../words/english.ts';
import { useWords } from '../words/words.tsx';
import { useFollow } from './use-follow.ts';

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

/** A word of what is written. */
interface Asked {
  readonly word: string;
  /** Its letters one after the other from the beginning of a word on, with no more than a few left out between two. */
  readonly letters: RegExp | undefined;
}

/** Those that fit, the best first; of those that fit alike, the earlier ones first. */
export function best<Item extends { readonly title: string }>(items: readonly Item[], query: string): readonly Item[] {
  const asked = toPlain(query).split(/\s+/).filter(Boolean).map(toAsked);
  const fits = items.flatMap((item) => {
    const fit = toFit(item.title, asked);
    return fit === undefined ? [] : [{ item, fit }];
  });
  return fits.sort((one, other) => other.fit - one.fit).map(({ item }) => item);
}

function toAsked(word: string): Asked {
  const escaped = [...word].map(escapePattern);
  // Pattern bound: the user's own tab: one escaped word of a search field.
  const letters = word.length > 1 ? new RegExp(`(?<![\\p{L}\\p{N}])${escaped.join('.{0,7}?')}`, 'u') : undefined;
  return { word, letters };
}

/** How well a text fits what is written; undefined where a word of it does not fit at all. The more, the better. */
function toFit(text: string, asked: readonly Asked[]): number | undefined {
  const plain = toPlain(text);
  let fit = 0;
  for (const each of asked) {
    const fitOfWord = fitOf(plain, each);
    if (fitOfWord === 0) return undefined;
    fit += fitOfWord;
  }
  // Of two that fit alike, the shorter one says less that was not asked for.
  return fit - Math.min(plain.length, 500) / 1000;
}

function fitOf(text: string, { word, letters }: Asked): number {
  const at = text.indexOf(word);
  if (at === -1) return letters?.test(text) === true ? 1 : 0;
  const words = text.split(/[^\p{L}\p{N}]+/u);
  const whole = words.includes(word) ? 1 : 0;
  if (at === 0) return 8 + whole;
  return words.some((each) => each.startsWith(word)) ? 6 + whole : 3;
}

/** Without accents, and small. */
function toPlain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/** All there is, as it is when somebody begins to look: what can be done, pages, conversations, whom to talk to. */
function useAllCommands(): readonly Command[] {
  const words = useWords();
  const { commands, library, deployments, isAdmin } = usePage();
  const follow = useFollow();
  const collect = (): readonly Command[] => [
    ...commands.all(),
    ...views(words, isAdmin).map(([place, title, icon]) => ({
      ...{ id: `view ${place.at}`, kind: 'view' as const, title, icon },
      run: () => follow(place),
    })),
    ...library.heads().map(({ id, title }) => ({
      ...{ id: `chat ${id}`, kind: 'conversation' as const, icon: 'speech' as const, title: title || words.untitled },
      run: () => follow({ at: 'conversation', id }),
    })),
    ...deployments.map(({ id, name, isApplication }) => ({
      ...({ id: `deployment ${id}`, kind: 'deployment' as const, title: name, icon: isApplication ? 'build' : 'spark' } as const),
      run: () => follow({ at: 'new', deployment: id }),
    })),
  ];
  return useState(collect)[0];
}

function views(words: Words, isAdmin: boolean): readonly (readonly [Place, string, IconName])[] {
  return [
    [{ at: 'temporary' }, words.temporaryChat, 'hourglass'],
    [{ at: 'applications' }, words.applicationsPage, 'build'],
    [{ at: 'consents' }, words.consentPage, 'shield'],
    [{ at: 'files' }, words.filesPage, 'file'],
    [{ at: 'usage' }, words.usagePage, 'bars'],
    [{ at: 'background' }, words.backgroundPage, 'clock'],
    ...(isAdmin ? ([[{ at: 'operations' }, words.operationsPage, 'pulse']] as const) : []),
  ];
}
