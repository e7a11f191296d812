import { toHash } from '../page/place.ts';
import { useFilesWords } from './files-words.ts';

/** The way from all files to a folder. */
export function FolderPath({ folder }: { readonly folder: string }) {
  const words = useFilesWords();
  const names = folder === '' ? [] : folder.split('/');
  const steps = names.map((name, at) => ({ name, path: names.slice(0, at + 1).join('/') }));
  return (
    <nav className="folder-path" aria-label={words.path}>
      <ol>
        <li>
          {steps.length === 0 ? (
            <span aria-current="page">{words.root}</span>
          ) : (
            <a href={toHash({ at: 'files' })}>{words.root}</a>
          )}
        </li>
        {steps.map(({ name, path }, at) => (
          <li key={path}>
            {at === steps.length - 1 ? (
              <span aria-current="page">{name}</span>
            ) : (
              <a href={toHash({ at: 'files', folder: path })}>{name}</a>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
