import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { hasStageWithoutConsent } from '../chat/consent/missing-consent.ts';
import { listVisibleTurns } from '../conversation/conversation.ts';
import { ErrorMessage } from '../parts/error-message.tsx';
import { Icon } from '../parts/icon.tsx';
import { PageHeader, useTitle } from '../parts/named-page.tsx';
import { acceptConsent, type ConsentForm, type ConsentStatus, readConsent, withdrawConsent } from '../service/consents.ts';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { useGetName, usePage } from '../shell/page.tsx';
import { formatRoute, type Route } from '../shell/route.ts';
import { useStrings } from '../strings/strings.tsx';
import { ConsentGraph } from './consent-graph.tsx';
import { useConsentStrings } from './consent-strings.ts';
import './consent.css';

interface ConsentPageProps {
  readonly deployment: string;
  /** ID of the chat that needs the consent, if any. */
  readonly back?: string;
  readonly openMenu: () => void;
}

/** Asks whether a deployment may use other deployments on behalf of the user. */
export function ConsentPage({ deployment, back, openMenu }: ConsentPageProps) {
  const strings = useStrings();
  const consentStrings = useConsentStrings();
  const name = strings.quoted(useGetName()(deployment));
  const returnRoute: Route = back === undefined ? { at: 'new', deployment } : { at: 'conversation', id: back };
  const { status, error, note, isSending, accept, decline, withdraw } = useDecision(deployment, returnRoute);
  useTitle(consentStrings.consentTitle(name));
  const needsDecision = status !== undefined && !status.isAccepted && status.form.size > 0;
  return (
    <main className="content">
      <PageHeader openMenu={openMenu}>
        <a className="quiet-link" href={formatRoute(returnRoute)}>
          <Icon name="left" />
          {consentStrings.backToChat}
        </a>
      </PageHeader>
      <div className="sheet" aria-busy={status === undefined && error === undefined}>
        <h1>{consentStrings.consentTitle(name)}</h1>
        {note !== '' && (
          <p className="note" role="alert">
            {note}
          </p>
        )}
        <ErrorMessage error={error} />
        {status !== undefined && !needsDecision && (
          <p>{status.isAccepted ? consentStrings.consentGiven(name) : consentStrings.consentNotRequired(name)}</p>
        )}
        {status?.isAccepted === true && (
          <div className="row consent-decision">
            <a className="button primary" href={formatRoute(returnRoute)}>
              {consentStrings.backToChat}
            </a>
            <button type="button" className="button" disabled={isSending} onClick={() => void withdraw()}>
              {consentStrings.withdraw}
            </button>
          </div>
        )}
        {needsDecision && <FormText {...{ root: deployment, form: status.form }} />}
        {needsDecision && (
          <div className="row consent-decision">
            <button type="button" className="button primary" disabled={isSending} onClick={() => void accept(status.form)}>
              {strings.accept}
            </button>
            <button type="button" className="button" disabled={isSending} onClick={() => void decline()}>
              {consentStrings.decline}
            </button>
            <a className="button quiet" href={formatRoute(returnRoute)}>
              {strings.later}
            </a>
          </div>
        )}
        {needsDecision && <p className="note">{consentStrings.consentRevocable}</p>}
      </div>
    </main>
  );
}

/** Loads the permissions that need a decision, and sends the decision. Afterwards, returns to `returnRoute`. */
function useDecision(deployment: string, returnRoute: Route) {
  const strings = useStrings();
  const consentStrings = useConsentStrings();
  const { service, go, announce } = usePage();
  const resume = useResume(deployment, returnRoute);
  const name = strings.quoted(useGetName()(deployment));
  const [status, setStatus] = useState<ConsentStatus>();
  const [error, setError] = useState<ErrorDetails>();
  const [note, setNote] = useState('');
  const [isSending, setIsSending] = useState(false);

  const load = useCallback(
    () => readConsent(service, deployment).then(setStatus, (error: unknown) => setError(toErrorDetails(error))),
    [service, deployment],
  );
  useEffect(() => void load(), [load]);

  const decide = async (operation: () => Promise<void>, announcement: string, onDone = () => go(returnRoute)): Promise<void> => {
    setIsSending(true);
    setError(undefined);
    try {
      await operation();
      announce(announcement);
      onDone();
    } catch (error) {
      const { code } = toErrorDetails(error);
      if (code === 'consent_outdated') setNote(strings.consentOutdated);
      else setError(toErrorDetails(error));
      await load();
    }
    setIsSending(false);
  };
  const accept = (form: ConsentForm): Promise<void> =>
    decide(
      () => acceptConsent(service, deployment, form),
      strings.consentAccepted(name),
      () => void resume(),
    );
  const decline = (): Promise<void> => decide(() => withdrawConsent(service, deployment), consentStrings.declined(name));
  const withdraw = (): Promise<void> => decide(() => withdrawConsent(service, deployment), consentStrings.withdrawn(name));
  return { status, error, note, isSending, accept, decline, withdraw };
}

/** Returns to the chat that needed the consent. A rejected question or step is retried immediately. */
function useResume(deployment: string, returnRoute: Route): () => Promise<void> {
  const { library, replyRunner, go } = usePage();
  return async () => {
    const id = returnRoute.at === 'conversation' ? returnRoute.id : '';
    const conversation = (await library.open(id)) ? library.find(id) : undefined;
    const last = conversation === undefined ? undefined : listVisibleTurns(conversation).at(-1);
    const isWaiting = last?.kind === 'reply' && last.deployment === deployment && conversation?.deployment === deployment;
    const isRejected = isWaiting && (last.fault?.code === 'consent_required' || hasStageWithoutConsent(last));
    if (isRejected && last.state !== 'running') void replyRunner.answer(id, last.parent);
    go(returnRoute);
  };
}

function FormText({ root, form }: { readonly root: string; readonly form: ConsentForm }) {
  const strings = useStrings();
  const consentStrings = useConsentStrings();
  const getName = useGetName();
  const dependencies = [...form].filter(([id]) => id !== root);
  const renderItems = (needsConsent: boolean): readonly ReactNode[] =>
    dependencies.flatMap(([id, requiresConsent]) =>
      requiresConsent === needsConsent ? <DependencyItem key={id} id={id} /> : [],
    );
  const [consentRequired, informational] = [renderItems(true), renderItems(false)];
  return (
    <>
      {form.get(root) === true && <p>{consentStrings.consentItself(strings.quoted(getName(root)))}</p>}
      {consentRequired.length > 0 && <p>{consentStrings.consentIntro(strings.quoted(getName(root)))}</p>}
      {consentRequired.length > 0 && <ul className="consent-dependencies needs-consent">{consentRequired}</ul>}
      {informational.length > 0 && <p className="soft">{consentStrings.consentOthers}</p>}
      {informational.length > 0 && <ul className="consent-dependencies">{informational}</ul>}
      <ConsentGraph root={root} form={form} />
    </>
  );
}

function DependencyItem({ id }: { readonly id: string }) {
  const { deployments } = usePage();
  const dependency = deployments.find((deployment) => deployment.id === id);
  return (
    <li>
      <strong>{dependency?.name ?? id}</strong>
      {dependency !== undefined && dependency.description !== '' && <span className="soft"> {dependency.description}</span>}
    </li>
  );
}
