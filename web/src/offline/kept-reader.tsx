import { Suspense } from 'react';
import { Guard, lazyView, MissingPart } from '../parts/lazy-view.tsx';

const KeptPage = lazyView(() => import('./kept-page.tsx').then(({ KeptPage: view }) => view));

/** What the browser has of the one who was here last, for reading. */
export function KeptReader({ leave }: { readonly leave: () => void }) {
  return (
    <Guard instead={<MissingPart />}>
      <Suspense fallback={<main aria-busy="true" />}>
        <KeptPage leave={leave} />
      </Suspense>
    </Guard>
  );
}
