import { useEffect, useState } from 'react';

const everyMs = 300_000;

/** Whether the service has another version of the page than this one; looked at now and then, and when somebody comes back to it. */
export function useNewVersion(): boolean {
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
