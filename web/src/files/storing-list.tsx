import { Icon } from '../parts/icon.tsx';
import { saidOf } from '../words/fault-words.ts';
import { useWords } from '../words/words.tsx';
import { useFilesWords } from './files-words.ts';
import type { Storing } from './use-storing.ts';

/** Files on their way, each with how far it has come. */
export function StoringList({ all, remove }: { readonly all: readonly Storing[]; readonly remove: (id: string) => void }) {
  const words = useWords();
  const filesWords = useFilesWords();
  if (all.length === 0) return null;
  return (
    <ul className="storing" aria-label={filesWords.uploads}>
      {all.map(({ id, name, share, fault }) => (
        <li key={id} className={fault === undefined ? undefined : 'trouble'}>
          <Icon name={fault === undefined ? 'file' : 'alert'} />
          <span className="storing-name">{fault === undefined ? name : words.uploadFailed(name, saidOf(fault, words))}</span>
          {fault === undefined && <progress value={share} aria-label={words.uploading(name, Math.round(share * 100))} />}
          <button
            type="button"
            className="icon-button"
            aria-label={fault === undefined ? filesWords.stop(name) : filesWords.dismiss(name)}
            title={fault === undefined ? filesWords.stop(name) : filesWords.dismiss(name)}
            onClick={() => remove(id)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
