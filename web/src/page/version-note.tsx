import { useState, useSyncExternalStore } from 'react';
import { Icon } from '../parts/icon.tsx';
import { useWords } from '../words/words.tsx';
import { usePage } from './page.tsx';
import { useNewVersion } from './use-new-version.ts';

/** Says that the service has a new version of the page. Nothing is reloaded by itself, and nothing while an answer is coming. */
export function VersionNote() {
  const words = useWords();
  const { library, asking } = usePage();
  const isNew = useNewVersion();
  const [isPutOff, setIsPutOff] = useState(false);
  const isBusy = useSyncExternalStore(library.subscribe, () => asking.isBusy());
  if (!isNew || isPutOff) return null;
  const reload = (): void => {
    library.saveAll();
    location.reload();
  };
  return (
    <div className="banner over-note version-note" role="status">
      <Icon name="again" />
      <p>{isBusy ? words.newVersionWaits : words.newVersion}</p>
      {!isBusy && (
        <button type="button" className="button" onClick={reload}>
          {words.reload}
        </button>
      )}
      <button type="button" className="button quiet" onClick={() => setIsPutOff(true)}>
        {words.later}
      </button>
    </div>
  );
}
