import { useEffect, useRef } from 'react';
import { Icon } from '../parts/icon.tsx';
import { useIsUnreachable } from '../service/reachability.ts';
import { usePage } from '../shell/page.tsx';
import { useStrings } from '../strings/strings.tsx';

/** A note while the service is unreachable. When the service can be reached again, the list of deployments is reloaded. */
export function OfflineNote() {
  const strings = useStrings();
  const { service, refresh } = usePage();
  const isUnreachable = useIsUnreachable(service.reachability);
  const wasUnreachable = useRef(false);
  useEffect(() => {
    if (wasUnreachable.current && !isUnreachable) void refresh().catch(() => undefined);
    wasUnreachable.current = isUnreachable;
  }, [isUnreachable, refresh]);
  if (!isUnreachable) return null;
  return (
    <div className="banner page-banner offline-note" role="status">
      <Icon name="offline" />
      <p>{strings.offlineWithDrafts(!navigator.onLine)}</p>
    </div>
  );
}
