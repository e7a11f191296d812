import { NamedPage } from '../parts/named-page.tsx';
import { LimitsSection } from './limits-section.tsx';
import { UsageSection } from './usage-section.tsx';
import { useUsageStrings } from './usage-strings.ts';
import './usage.css';

/** The limits and the usage of the user. */
export function UsagePage({ openMenu }: { readonly openMenu: () => void }) {
  const { title } = useUsageStrings();
  return (
    <NamedPage name={title} openMenu={openMenu}>
      <div className="sheet wide">
        <h1>{title}</h1>
        <LimitsSection />
        <UsageSection />
      </div>
    </NamedPage>
  );
}
