import { useCallback, useEffect, useState } from 'react';
import { useNameOf, usePage } from '../page/page.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { type AcceptedConsent, listConsents, withdrawConsent } from '../service/consents.ts';
import { type Fault, faultOf } from '../service/fault.ts';
import { useLanguage, useWords } from '../words/words.tsx';
import { useConsentWords } from './consent-words.ts';
import './consent.css';

/** What the user has accepted, each with the way to take it back. */
export function ConsentsPage({ openMenu }: { readonly openMenu: () => void }) {
  const { words } = useLanguage();
  const { service, announce } = usePage();
  const own = useConsentWords();
  const nameOf = useNameOf();
  const [consents, setConsents] = useState<readonly AcceptedConsent[]>();
  const [fault, setFault] = useState<Fault>();
  const load = useCallback(
    () => listConsents(service).then(setConsents, (thrown: unknown) => setFault(faultOf(thrown))),
    [service],
  );
  useEffect(() => void load(), [load]);
  const withdraw = (id: string): void => {
    withdrawConsent(service, id).then(
      () => {
        announce(own.withdrawn(nameOf(id)));
        void load();
      },
      (thrown: unknown) => setFault(faultOf(thrown)),
    );
  };
  return (
    <NamedPage name={words.consentPage} title={own.acceptedTitle} openMenu={openMenu}>
      <div className="sheet" aria-busy={consents === undefined && fault === undefined}>
        <h1>{own.acceptedTitle}</h1>
        <Trouble fault={fault} />
        {consents?.length === 0 && <p className="soft">{own.acceptedNone}</p>}
        <ul className="consents">
          {consents?.map((consent) => (
            <ConsentItem key={consent.deployment} {...{ consent, withdraw }} />
          ))}
        </ul>
      </div>
    </NamedPage>
  );
}

function ConsentItem({ consent, withdraw }: { readonly consent: AcceptedConsent; readonly withdraw: (id: string) => void }) {
  const { language } = useLanguage();
  const words = useWords();
  const own = useConsentWords();
  const nameOf = useNameOf();
  const { deployment, form, acceptedAtMs } = consent;
  const date = new Date(acceptedAtMs).toLocaleDateString(language, { dateStyle: 'long' });
  const reached = [...form].filter(([id, asks]) => asks && id !== deployment).map(([id]) => words.quoted(nameOf(id)));
  return (
    <li className="consent">
      <div>
        <h2>{nameOf(deployment)}</h2>
        <p className="soft small">
          {reached.length > 0 ? own.acceptedOn(date, reached.join(', ')) : own.consentStands(words.quoted(nameOf(deployment)))}
        </p>
      </div>
      <button
        type="button"
        className="button"
        aria-label={`${own.withdraw}: ${nameOf(deployment)}`}
        onClick={() => withdraw(deployment)}
      >
        {own.withdraw}
      </button>
    </li>
  );
}
