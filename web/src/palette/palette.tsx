import { type KeyboardEvent, useCallback, useEffect, useId, useState } from 'react';
import { getReadablePath, listFolders, StoredFiles } from '../files/stored-files.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { isComposing } from '../parts/is-composing.ts';
import { useLoaded } from '../parts/use-loaded.ts';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import type { PaletteCommand } from './command-registry.ts';
import { usePaletteStrings } from './palette-strings.ts';
import '../parts/question-dialog.css';
import './palette.css';
import { escapePattern } from '#base/text/find-text.ts';
import type { Strings } from '../locales/en/page.ts';
import { usePage } from '../shell/page.tsx';
import type { Route } from '../shell/route.ts';
import { useStrings } from '../strings/strings.tsx';
import { useNavigate } from './use-navigate.ts';

const maxItems = 40;
/** Maximum number of chats, and of deployments, for an empty query. */
const maxPerKind = 5;

interface PaletteProps {
  readonly close: () => void;
  /** Opens the sidebar's search in the text of chats. */
  readonly searchChats: (text: string) => void;
}

/** Finds commands and pages by a few letters of their name. The last entry searches the text of chats. */
export function Palette({ close, searchChats }: PaletteProps) {
  const strings = usePaletteStrings();
  const { dialog, closeDialog } = useModalDialog(close);
  const listId = useId();
  const [query, setQuery] = useState('');
  const [selectedIndex, setSelectedIndex] = useState(0);
  const [hasSearched, setHasSearched] = useState(false);
  const all = [...useAllCommands(), ...useFileCommands(hasSearched)];
  const text = query.trim();
  const matches = text === '' ? listDefaults(all) : findBest(all, text).slice(0, maxItems);
  const chatSearch: PaletteCommand = {
    ...{ id: 'search chats', kind: 'action', icon: 'search', title: strings.searchChats(text), run: () => searchChats(text) },
  };
  const options = text === '' ? matches : [...matches, chatSearch];
  const getOptionId = (index: number): string => `${listId}-${index}`;
  useEffect(() => {
    document.getElementById(`${listId}-${selectedIndex}`)?.scrollIntoView({ block: 'nearest' });
  }, [listId, selectedIndex]);
  const pick = (command: PaletteCommand | undefined): void => {
    if (command === undefined) return;
    closeDialog();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isComposing(event.nativeEvent)) return;
    if (event.key === 'Enter') pick(options[selectedIndex]);
    else if (event.key === 'ArrowDown') setSelectedIndex((selectedIndex + 1) % Math.max(options.length, 1));
    else if (event.key === 'ArrowUp') setSelectedIndex((selectedIndex + options.length - 1) % Math.max(options.length, 1));
    else return;
    event.preventDefault();
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog palette', 'aria-label': strings.title, closedby: 'any' }}>
      <div className="search">
        <Icon name="search" />
        <input
          {...{ type: 'text', role: 'combobox', autoComplete: 'off', spellCheck: false, value: query, onKeyDown }}
          {...{ 'aria-label': strings.title, 'aria-autocomplete': 'list', 'aria-expanded': true, 'aria-controls': listId }}
          aria-activedescendant={options.length > 0 ? getOptionId(selectedIndex) : undefined}
          placeholder={strings.placeholder}
          onChange={({ target }) => {
            setQuery(target.value);
            setHasSearched(hasSearched || target.value.trim() !== '');
            setSelectedIndex(0);
          }}
        />
      </div>
      <div className="palette-list" id={listId} role="listbox" aria-label={strings.title}>
        {options.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input keeps the focus and receives the keys
          <div
            key={command.id}
            role="option"
            id={getOptionId(index)}
            tabIndex={-1}
            aria-selected={index === selectedIndex}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => pick(command)}
          >
            <Icon name={command.icon} />
            <span className="palette-title">{command.title}</span>
            <span className="soft small">{strings[command.kind]}</span>
          </div>
        ))}
      </div>
      <p className="visually-hidden" role="status">
        {text !== '' && strings.matchCount(options.length)}
      </p>
    </dialog>
  );
}

/** Lists the entries for an empty query, with the most used kinds first. */
function listDefaults(all: readonly PaletteCommand[]): readonly PaletteCommand[] {
  const byKind = (wantedKind: PaletteCommand['kind']): readonly PaletteCommand[] => all.filter(({ kind }) => kind === wantedKind);
  const topCommands = (['conversation', 'deployment'] as const).flatMap((kind) => byKind(kind).slice(0, maxPerKind));
  const [newCommand, ...actions] = byKind('action').toSorted(
    (left, right) => Number(right.id === 'new') - Number(left.id === 'new'),
  );
  return [...(newCommand === undefined ? [] : [newCommand]), ...topCommands, ...byKind('view'), ...actions];
}

/** A word of the query. */
interface QueryWord {
  readonly word: string;
  /** Matches its letters in order from the start of a word, with at most a few skipped letters in between. */
  readonly letters: RegExp | undefined;
}

/** Returns the matching items, the best first. Items with equal rank keep their order. */
export function findBest<Item extends { readonly title: string }>(items: readonly Item[], query: string): readonly Item[] {
  const queryWords = toPlain(query).split(/\s+/).filter(Boolean).map(toQueryWord);
  const matches = items.flatMap((item) => {
    const score = rateTitle(item.title, queryWords);
    return score === undefined ? [] : [{ item, score }];
  });
  return matches.sort((left, right) => right.score - left.score).map(({ item }) => item);
}

function toQueryWord(word: string): QueryWord {
  const escaped = [...word].map(escapePattern);
  // Pattern bound: runs in the user's own tab, on one escaped word of a search field.
  const letters = word.length > 1 ? new RegExp(`(?<![\\p{L}\\p{N}])${escaped.join('.{0,7}?')}`, 'u') : undefined;
  return { word, letters };
}

/** Rates how well a title matches. Higher is better. Returns undefined if a word does not match. */
function rateTitle(title: string, queryWords: readonly QueryWord[]): number | undefined {
  const plain = toPlain(title);
  const scores = queryWords.map((queryWord) => rateWord(plain, queryWord));
  // The shorter one of two equal matches is more specific.
  return scores.includes(0) ? undefined : scores.reduce((sum, score) => sum + score, 0) - Math.min(plain.length, 500) / 1000;
}

function rateWord(text: string, { word, letters }: QueryWord): number {
  const at = text.indexOf(word);
  if (at === -1) return letters?.test(text) === true ? 1 : 0;
  const words = text.split(/[^\p{L}\p{N}]+/u);
  const exactBonus = words.includes(word) ? 1 : 0;
  if (at === 0) return 8 + exactBonus;
  return words.some((part) => part.startsWith(word)) ? 6 + exactBonus : 3;
}

/** Removes accents and converts to lowercase. */
function toPlain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/** Collects the entries that need no request when the palette opens: actions, pages, chats, and deployments. */
function useAllCommands(): readonly PaletteCommand[] {
  const strings = useStrings();
  const { commands, library, deployments, canAudit } = usePage();
  const navigate = useNavigate();
  const collect = (): readonly PaletteCommand[] => [
    ...commands.list(),
    ...listViews(strings, canAudit).map(([route, title, icon]) => ({
      ...{ id: `view ${route.at}`, kind: 'view' as const, title, icon },
      run: () => navigate(route),
    })),
    ...library.getSummaries().map(({ id, title }) => ({
      ...{ id: `chat ${id}`, kind: 'conversation' as const, icon: 'speech' as const, title: title || strings.untitled },
      run: () => navigate({ at: 'conversation', id }),
    })),
    ...deployments.map(({ id, name, isApplication }) => ({
      ...({ id: `deployment ${id}`, kind: 'deployment' as const, title: name, icon: isApplication ? 'build' : 'spark' } as const),
      run: () => navigate({ at: 'new', deployment: id }),
    })),
  ];
  return useState(collect)[0];
}

/** Lists the stored files of the user once, as soon as they are needed. */
function useFileCommands(areNeeded: boolean): readonly PaletteCommand[] {
  const { service, storesFiles } = usePage();
  const navigate = useNavigate();
  const load = useCallback(
    async (signal: AbortSignal) => (areNeeded && storesFiles ? new StoredFiles(service).listAll(signal) : []),
    [areNeeded, storesFiles, service],
  );
  const { value: items = [] } = useLoaded(load);
  return items.map((item) => ({
    ...({ id: item.reference, kind: 'file', icon: 'file', title: getReadablePath(item) } as const),
    run: () => navigate({ at: 'files', folder: listFolders(item).join('/'), file: item.name }),
  }));
}

function listViews(strings: Strings, canAudit: boolean): readonly (readonly [Route, string, IconName])[] {
  return [
    [{ at: 'temporary' }, strings.temporaryChat, 'hourglass'],
    [{ at: 'applications' }, strings.applicationsPage, 'build'],
    [{ at: 'consents' }, strings.consentPage, 'shield'],
    [{ at: 'files' }, strings.filesPage, 'file'],
    [{ at: 'usage' }, strings.usagePage, 'bars'],
    [{ at: 'background' }, strings.backgroundPage, 'clock'],
    ...(canAudit
      ? ([
          [{ at: 'operations' }, strings.operationsPage, 'pulse'],
          [{ at: 'administration' }, strings.administrationPage, 'columns'],
        ] as const)
      : []),
  ];
}
