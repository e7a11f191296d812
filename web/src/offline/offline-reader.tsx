import { Guard, lazyView, MissingPart } from '../parts/lazy-view.tsx';

const OfflinePage = lazyView(() => import('./offline-page.tsx').then(({ OfflinePage: view }) => view));

/** Shows the chats of the last user in this browser, read-only. */
export function OfflineReader({ close }: { readonly close: () => void }) {
  return (
    <Guard fallback={<MissingPart />} pending={<main aria-busy="true" />}>
      <OfflinePage close={close} />
    </Guard>
  );
}
