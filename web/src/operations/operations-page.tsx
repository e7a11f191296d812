import { useCallback, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { useLanguage } from '../words/words.tsx';
import { AuditSection } from './audit-section.tsx';
import { ConfigurationSection } from './configuration-section.tsx';
import { HealthSection } from './health-section.tsx';
import { useOperationsWords } from './operations-words.ts';
import { readState } from './read-operations.ts';
import { UpstreamsSection } from './upstreams-section.tsx';
import './operations.css';

/** How the service is, for those who look after it. */
export function OperationsPage({ openMenu }: { readonly openMenu: () => void }) {
  const { language } = useLanguage();
  const operationsWords = useOperationsWords();
  const { service } = usePage();
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round reads anew
  const load = useCallback((signal: AbortSignal) => readState(service, signal), [service, round]);
  const { value: state, fault, isLoading } = useLoaded(load);
  return (
    <NamedPage name={operationsWords.title} openMenu={openMenu}>
      <div className="sheet wide" aria-busy={isLoading}>
        <div className="sheet-title">
          <h1>{operationsWords.title}</h1>
          <button type="button" className="button" onClick={() => setRound((now) => now + 1)}>
            <Icon name="again" />
            {operationsWords.refresh}
          </button>
        </div>
        <Trouble fault={fault} />
        {state !== undefined && (
          <>
            <p className="soft" role="status">
              {operationsWords.asOf(new Date(state.nowMs).toLocaleTimeString(language))}
            </p>
            <HealthSection state={state} />
            <UpstreamsSection upstreams={state.upstreams} />
            <ConfigurationSection state={state} />
          </>
        )}
        <AuditSection round={round} />
      </div>
    </NamedPage>
  );
}
