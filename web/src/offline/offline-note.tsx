import { useEffect, useRef } from 'react';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { useIsUnreachable } from '../service/use-is-unreachable.ts';
import { useStrings } from '../strings/strings.tsx';

/** Says that the service cannot be reached, for as long as it cannot; learns anew what is open to the user when it can. */
export function OfflineNote() {
  const strings = useStrings();
  const { service, refresh } = usePage();
  const isUnreachable = useIsUnreachable(service);
  const wasUnreachable = useRef(false);
  useEffect(() => {
    if (wasUnreachable.current && !isUnreachable) void refresh().catch(() => undefined);
    wasUnreachable.current = isUnreachable;
  }, [isUnreachable, refresh]);
  if (!isUnreachable) return null;
  return (
    <div className="banner over-note offline-note" role="status">
      <Icon name="offline" />
      <p>{strings.away(!navigator.onLine)}</p>
    </div>
  );
}
