import { useEffect } from 'react';
import { PageHeader } from '../parts/page-header.tsx';
import { useWords } from '../words/words.tsx';
import { LimitsSection } from './limits-section.tsx';
import { UsageSection } from './usage-section.tsx';
import { useUsageWords } from './usage-words.ts';
import './usage.css';

/** What the user may still use, and what was used. */
export function UsagePage({ openMenu }: { readonly openMenu: () => void }) {
  const words = useWords();
  const { title } = useUsageWords();
  useEffect(() => {
    document.title = `${title} · ${words.product}`;
  }, [title, words]);
  return (
    <main className="content">
      <PageHeader openMenu={openMenu}>
        <span className="page-name">{title}</span>
      </PageHeader>
      <div className="sheet wide">
        <h1>{title}</h1>
        <LimitsSection />
        <UsageSection />
      </div>
    </main>
  );
}
