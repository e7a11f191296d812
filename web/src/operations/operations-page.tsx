import { useCallback, useEffect, useState } from 'react';
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
import { useRefreshing } from './use-refreshing.ts';
import './operations.css';

const everyMs = 15_000;

/** How the service is, for those who look after it: what is wrong first, and brought up to date by itself. */
export function OperationsPage({ openMenu }: { readonly openMenu: () => void }) {
  const { language } = useLanguage();
  const words = useOperationsWords();
  const { service, announce } = usePage();
  /** Grows when it is asked for, and everything may stand in another order. */
  const [round, setRound] = useState(0);
  const [isOn, setIsOn] = useState(true);
  const load = useCallback(async (signal: AbortSignal) => ({ ...(await readState(service, signal)), round }), [service, round]);
  const { value: state, fault, isLoading, reload } = useLoaded(load);
  useRefreshing(reload, { everyMs, isOn });
  const asOf = state && words.asOf(new Date(state.nowMs).toLocaleTimeString(language));
  // What comes by itself is not read out again and again.
  const shownRound = state?.round ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each round
  useEffect(() => {
    if (shownRound > 0 && asOf !== undefined) announce(asOf);
  }, [shownRound]);
  return (
    <NamedPage name={words.title} openMenu={openMenu}>
      <div className="sheet wide" aria-busy={isLoading}>
        <div className="sheet-title">
          <h1>{words.title}</h1>
          <div className="refreshing">
            <label>
              <input type="checkbox" checked={isOn} onChange={() => setIsOn(!isOn)} />
              {words.byItself}
            </label>
            <button type="button" className="button" onClick={() => setRound((now) => now + 1)}>
              <Icon name="again" />
              {words.refresh}
            </button>
          </div>
        </div>
        <Trouble fault={fault} />
        {state !== undefined && (
          <>
            <p className="soft as-of">{asOf}</p>
            <HealthSection state={state} />
            <UpstreamsSection upstreams={state.upstreams} round={state.round} />
            <ConfigurationSection state={state} />
          </>
        )}
        <AuditSection round={round} latest={state} />
      </div>
    </NamedPage>
  );
}
