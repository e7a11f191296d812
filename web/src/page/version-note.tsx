import { useEffect, useState, useSyncExternalStore } from 'react';
import { Icon } from '../parts/icon.tsx';
import { useWords } from '../words/words.tsx';
import { usePage } from './page.tsx';

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

const everyMs = 300_000;

/** Whether the service has another version of the page than this one; looked at now and then, and when somebody comes back to it. */
function useNewVersion(): boolean {
  const [isNew, setIsNew] = useState(false);
  useEffect(() => {
    if (isNew) return;
    const look = (): void => {
      if (!document.hidden && navigator.onLine) void isAnotherServed().then((isAnother) => isAnother && setIsNew(true));
    };
    const timer = setInterval(look, everyMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [isNew]);
  return isNew;
}

/** The names of built scripts change with what is in them. False where that cannot be told. */
async function isAnotherServed(): Promise<boolean> {
  const own = document.querySelector('script[type="module"][src*="/assets/"]')?.getAttribute('src');
  const answer = await fetch('./', { cache: 'no-cache', credentials: 'omit' }).catch(() => undefined);
  if (own == null || answer?.ok !== true) return false;
  const served = await answer.text().catch(() => '');
  return served.includes('src="./assets/') && !served.includes(`src="${own}"`);
}
