import { useLanguage } from '../words/words.tsx';
import { useOperationsWords } from './operations-words.ts';
import type { ConfigurationFault, NodeState } from './read-operations.ts';
import { toMoment } from './to-moment.ts';

/** What is in force since when, what was refused, and where it is at fault. */
export function ConfigurationSection({ state }: { readonly state: NodeState }) {
  const words = useOperationsWords();
  const { language } = useLanguage();
  const { files, loadedAtMs, refusedAtMs, faults, warnings } = state;
  return (
    <section className="sheet-section operations-configuration" aria-label={words.configuration}>
      <h2 tabIndex={-1}>{words.configuration}</h2>
      {files.length === 0 ? (
        <p className="soft">{words.embedded}</p>
      ) : (
        <ul className="configuration-files" aria-label={words.filesOf}>
          {files.map((file) => (
            <li key={file}>
              <code>{file}</code>
            </li>
          ))}
        </ul>
      )}
      <p className="soft">{words.loadedAt(toMoment(loadedAtMs, language))}</p>
      {refusedAtMs !== undefined && <p className="verdict bad">{words.refusedAt(toMoment(refusedAtMs, language))}</p>}
      <Faults title={words.faults} faults={faults} />
      <Faults title={words.warnings} faults={warnings} />
    </section>
  );
}

function Faults({ title, faults }: { readonly title: string; readonly faults: readonly ConfigurationFault[] }) {
  const words = useOperationsWords();
  if (faults.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className="faults">
        {faults.map(({ file, path, message, hint }) => (
          <li key={`${file} ${path} ${message}`}>
            <p className="fault-path">{path === '' ? words.wholeFile : <code>{path}</code>}</p>
            <p>{[message, hint].filter((part) => part !== '').join('; ')}</p>
            {file !== '' && <p className="soft small">{file}</p>}
          </li>
        ))}
      </ul>
    </>
  );
}
