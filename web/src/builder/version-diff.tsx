import { useCallback } from 'react';
import { usePage } from '../page/page.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import type { OwnApplication } from './applications.ts';
import { useBuilderWords } from './builder-words.ts';
import { diffEntries, type FieldChange } from './diff-entries.ts';
import { type DiffLine, diffLines } from './diff-lines.ts';
import { readVersion } from './versions.ts';

/** What has changed from a version to what is stored now, field by field. */
export function VersionDiff({ stored, version }: { readonly stored: OwnApplication; readonly version: number }) {
  const words = useBuilderWords();
  const { service } = usePage();
  const load = useCallback(() => readVersion(service, stored.id, version), [service, stored.id, version]);
  const { value: entry, fault } = useLoaded(load);
  if (entry === undefined) return <Trouble fault={fault} />;
  const changes = diffEntries(entry, stored.entry);
  if (changes.length === 0) return <p className="soft small">{words.noDifference}</p>;
  return (
    <ul className="version-changes" aria-label={words.changedSince}>
      {changes.map((change) => (
        <Change key={change.field} change={change} />
      ))}
    </ul>
  );
}

function Change({ change: { field, before = '', after = '' } }: { readonly change: FieldChange }) {
  const words = useBuilderWords();
  const lines = before === '' ? added(after) : after === '' ? removed(before) : diffLines(before, after);
  return (
    <li>
      <code>{field.replace(/^applicationProperties\./, '')}</code>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard */}
      <pre className="version-lines" tabIndex={0}>
        {folded(lines).map(({ kind, text }, nth) => {
          const Mark = marks[kind];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one comparison never move
            <Mark key={nth} className={kind}>
              {kind === 'left out' ? words.linesLeftOut(Number(text)) : text}
              {'\n'}
            </Mark>
          );
        })}
      </pre>
    </li>
  );
}

const marks = { same: 'span', removed: 'del', added: 'ins', 'left out': 'span' } as const;
/** Lines that are shown before and after a change. */
const context = 2;

interface ShownLine {
  readonly kind: DiffLine['kind'] | 'left out';
  /** How many lines, where they are left out. */
  readonly text: string;
}

/** With what stayed the same left out, but for the lines around a change. */
function folded(lines: readonly DiffLine[]): readonly ShownLine[] {
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(({ kind }) => kind !== 'same'),
  );
  const shown: ShownLine[] = [];
  let hidden = 0;
  for (const [at, line] of lines.entries()) {
    if (!isNear[at]) hidden += 1;
    if (hidden > 0 && (isNear[at] || at === lines.length - 1)) {
      shown.push({ kind: 'left out', text: String(hidden) });
      hidden = 0;
    }
    if (isNear[at]) shown.push(line);
  }
  return shown;
}

function added(text: string): readonly DiffLine[] {
  return text.split('\n').map((line) => ({ kind: 'added', text: line }));
}

function removed(text: string): readonly DiffLine[] {
  return text.split('\n').map((line) => ({ kind: 'removed', text: line }));
}
