import { useWords } from '../words/words.tsx';

/** Stands where a part of the page cannot be shown: it could not be loaded, or failed. */
export function MissingPart() {
  const words = useWords();
  return (
    <main className="content">
      <div className="sheet missing-part" role="alert">
        <h1>{words.partMissing}</h1>
        <p>{navigator.onLine ? words.partMissingWhy : words.partMissingOffline}</p>
        <button type="button" className="button primary" onClick={() => location.reload()}>
          {words.reload}
        </button>
      </div>
    </main>
  );
}
