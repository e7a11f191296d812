import { useCallback } from 'react';
import { ErrorMessage } from '../parts/error-message.tsx';
import { NamedPage } from '../parts/named-page.tsx';
import { focusHeading } from '../parts/use-focus-inside.ts';
import { useAction, useLoaded } from '../parts/use-loaded.ts';
import { type AcceptedConsent, listConsents, withdrawConsent } from '../service/consents.ts';
import { useGetName, usePage } from '../shell/page.tsx';
import { useLanguage, useStrings } from '../strings/strings.tsx';
import { useConsentStrings } from './consent-strings.ts';
import './consent.css';

/** Accepted permissions, each with a button to withdraw it. */
export function ConsentsPage({ openMenu }: { readonly openMenu: () => void }) {
  const { strings } = useLanguage();
  const { service, announce } = usePage();
  const consentStrings = useConsentStrings();
  const getName = useGetName();
  const { value: consents, error: loadError, isLoading, reload } = useLoaded(useCallback(() => listConsents(service), [service]));
  const { error, run } = useAction();
  const withdraw = (id: string): void =>
    void run(async () => {
      await withdrawConsent(service, id);
      announce(consentStrings.withdrawn(strings.quoted(getName(id))));
      focusHeading();
      reload();
    });
  return (
    <NamedPage name={strings.consentPage} title={consentStrings.acceptedTitle} openMenu={openMenu}>
      <div className="sheet" aria-busy={isLoading}>
        <h1>{consentStrings.acceptedTitle}</h1>
        <ErrorMessage error={error} />
        <ErrorMessage error={loadError} retry={reload} />
        {consents?.length === 0 && <p className="soft">{consentStrings.noPermissions}</p>}
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
  const { locale } = useLanguage();
  const strings = useStrings();
  const consentStrings = useConsentStrings();
  const getName = useGetName();
  const { deployment, form, acceptedAtMs } = consent;
  const date = new Date(acceptedAtMs).toLocaleDateString(locale, { dateStyle: 'long' });
  const names = [...form]
    .filter(([id, requiresConsent]) => requiresConsent && id !== deployment)
    .map(([id]) => strings.quoted(getName(id)));
  return (
    <li className="consent">
      <div>
        <h2>{getName(deployment)}</h2>
        <p className="soft small">
          {names.length > 0
            ? consentStrings.acceptedOn(date, names.join(', '))
            : consentStrings.consentGiven(strings.quoted(getName(deployment)))}
        </p>
      </div>
      <button
        type="button"
        className="button"
        aria-label={`${consentStrings.withdraw}: ${getName(deployment)}`}
        onClick={() => withdraw(deployment)}
      >
        {consentStrings.withdraw}
      </button>
    </li>
  );
}
