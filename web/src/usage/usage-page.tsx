import { NamedPage } from '../parts/named-page.tsx';
import { LimitsSection } from './limits-section.tsx';
import type { Scope } from './read-usage.ts';
import { UsageSection } from './usage-section.tsx';
import { useUsageStrings } from './usage-strings.ts';
import './usage.css';

/** The limits of the user, and the usage of the user or of all users. */
export function UsagePage({ scope = 'own', openMenu }: { readonly scope: Scope | undefined; readonly openMenu: () => void }) {
  const { title } = useUsageStrings();
  return (
    <NamedPage name={title} openMenu={openMenu}>
      <div className="sheet wide">
        <h1>{title}</h1>
        <LimitsSection />
        <UsageSection initialScope={scope} />
      </div>
    </NamedPage>
  );
}
