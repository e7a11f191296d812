import { Suspense } from 'react';
import { Guard, lazyView, MissingPart } from '../parts/lazy-view.tsx';

const OfflinePage = lazyView(() => import('./offline-page.tsx').then(({ OfflinePage: view }) => view));

/** What the browser has of the one who was here last, for reading. */
export function OfflineReader({ close }: { readonly close: () => void }) {
  return (
    <Guard fallback={<MissingPart />}>
      <Suspense fallback={<main aria-busy="true" />}>
        <OfflinePage close={close} />
      </Suspense>
    </Guard>
  );
}
