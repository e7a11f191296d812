import { useEffect, useRef } from 'react';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { useAway } from '../service/use-away.ts';
import { useWords } from '../words/words.tsx';

/** Says that the service cannot be reached, for as long as it cannot; learns anew what is open to the user when it can. */
export function OfflineNote() {
  const words = useWords();
  const { service, refresh } = usePage();
  const isAway = useAway(service);
  const wasAway = useRef(false);
  useEffect(() => {
    if (wasAway.current && !isAway) void refresh().catch(() => undefined);
    wasAway.current = isAway;
  }, [isAway, refresh]);
  if (!isAway) return null;
  return (
    <div className="banner over-note offline-note" role="status">
      <Icon name="offline" />
      <p>{words.away(!navigator.onLine)}</p>
    </div>
  );
}
