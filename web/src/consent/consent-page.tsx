import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { hasRefusedStage } from '../chat/consent/consent-refusal.ts';
import { shownTurns } from '../conversation/conversation.ts';
import { useNameOf, usePage } from '../page/page.tsx';
import { type Place, toHash } from '../page/place.ts';
import { Icon } from '../parts/icon.tsx';
import { PageHeader, useTitle } from '../parts/named-page.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { acceptConsent, type ConsentForm, type ConsentStatus, readConsent, withdrawConsent } from '../service/consents.ts';
import { type Fault, faultOf } from '../service/fault.ts';
import { useWords } from '../words/words.tsx';
import { ConsentGraph } from './consent-graph.tsx';
import { useConsentWords } from './consent-words.ts';
import './consent.css';

interface ConsentPageProps {
  readonly deployment: string;
  readonly back?: string;
  readonly openMenu: () => void;
}

/** Asks whether a deployment may reach others in the user's name. */
export function ConsentPage({ deployment, back, openMenu }: ConsentPageProps) {
  const words = useWords();
  const own = useConsentWords();
  const name = words.quoted(useNameOf()(deployment));
  const returning: Place = back === undefined ? { at: 'new', deployment } : { at: 'conversation', id: back };
  const { status, fault, remark, isSending, accept, decline, withdraw } = useDecision(deployment, returning);
  useTitle(own.consentTitle(name));
  const isAsked = status !== undefined && !status.isAccepted && status.form.size > 0;
  return (
    <main className="content">
      <PageHeader openMenu={openMenu}>
        <a className="quiet-link" href={toHash(returning)}>
          <Icon name="left" />
          {own.backToChat}
        </a>
      </PageHeader>
      <div className="sheet" aria-busy={status === undefined && fault === undefined}>
        <h1>{own.consentTitle(name)}</h1>
        {remark !== '' && (
          <p className="note" role="alert">
            {remark}
          </p>
        )}
        <Trouble fault={fault} />
        {status !== undefined && !isAsked && (
          <p>{status.isAccepted ? own.consentStands(name) : own.consentNothingRequired(name)}</p>
        )}
        {status?.isAccepted === true && (
          <div className="row decide">
            <a className="button primary" href={toHash(returning)}>
              {own.backToChat}
            </a>
            <button type="button" className="button" disabled={isSending} onClick={() => void withdraw()}>
              {own.withdraw}
            </button>
          </div>
        )}
        {isAsked && <FormText {...{ root: deployment, form: status.form }} />}
        {isAsked && (
          <div className="row decide">
            <button type="button" className="button primary" disabled={isSending} onClick={() => void accept(status.form)}>
              {words.accept}
            </button>
            <button type="button" className="button" disabled={isSending} onClick={() => void decline()}>
              {own.decline}
            </button>
            <a className="button quiet" href={toHash(returning)}>
              {words.later}
            </a>
          </div>
        )}
        {isAsked && <p className="note">{own.consentRevocable}</p>}
      </div>
    </main>
  );
}

/** The form as it stands, and what the user may do with it; once decided, the way leads back. */
function useDecision(deployment: string, returning: Place) {
  const words = useWords();
  const own = useConsentWords();
  const { service, go, announce } = usePage();
  const goOn = useGoingOn(deployment, returning);
  const name = words.quoted(useNameOf()(deployment));
  const [status, setStatus] = useState<ConsentStatus>();
  const [fault, setFault] = useState<Fault>();
  const [remark, setRemark] = useState('');
  const [isSending, setIsSending] = useState(false);

  const load = useCallback(
    () => readConsent(service, deployment).then(setStatus, (thrown: unknown) => setFault(faultOf(thrown))),
    [service, deployment],
  );
  useEffect(() => void load(), [load]);

  const decide = async (act: () => Promise<void>, said: string, leave = () => go(returning)): Promise<void> => {
    setIsSending(true);
    setFault(undefined);
    try {
      await act();
      announce(said);
      leave();
    } catch (thrown) {
      const { code } = faultOf(thrown);
      if (code === 'consent_outdated') setRemark(words.consentOutdated);
      else setFault(faultOf(thrown));
      await load();
    }
    setIsSending(false);
  };
  const accept = (form: ConsentForm): Promise<void> =>
    decide(
      () => acceptConsent(service, deployment, form),
      words.consentAccepted(name),
      () => void goOn(),
    );
  const decline = (): Promise<void> => decide(() => withdrawConsent(service, deployment), own.declined(name));
  const withdraw = (): Promise<void> => decide(() => withdrawConsent(service, deployment), own.withdrawn(name));
  return { status, fault, remark, isSending, accept, decline, withdraw };
}

/** The way back to what waits for the consent: a question that was refused, as a whole or in a step, is asked again at once. */
function useGoingOn(deployment: string, returning: Place): () => Promise<void> {
  const { library, asking, go } = usePage();
  return async () => {
    const id = returning.at === 'conversation' ? returning.id : '';
    const conversation = (await library.open(id)) ? library.find(id) : undefined;
    const last = conversation === undefined ? undefined : shownTurns(conversation).at(-1);
    const isWaiting = last?.kind === 'reply' && last.deployment === deployment && conversation?.deployment === deployment;
    const isRefused = isWaiting && (last.fault?.code === 'consent_required' || hasRefusedStage(last));
    if (isRefused && last.state !== 'running') void asking.answer(id, last.parent);
    go(returning);
  };
}

function FormText({ root, form }: { readonly root: string; readonly form: ConsentForm }) {
  const words = useWords();
  const own = useConsentWords();
  const nameOf = useNameOf();
  const others = [...form].filter(([id]) => id !== root);
  const asking = others.filter(([, asks]) => asks);
  const quiet = others.filter(([, asks]) => !asks);
  return (
    <>
      {form.get(root) === true && <p>{own.consentItself(words.quoted(nameOf(root)))}</p>}
      {asking.length > 0 && <p>{own.consentIntro(words.quoted(nameOf(root)))}</p>}
      {asking.length > 0 && <ul className="reached asking">{asking.map(([id]) => reached(id))}</ul>}
      {quiet.length > 0 && <p className="soft">{own.consentOthers}</p>}
      {quiet.length > 0 && <ul className="reached">{quiet.map(([id]) => reached(id))}</ul>}
      <ConsentGraph root={root} form={form} />
    </>
  );

  function reached(id: string): ReactNode {
    return <Reached key={id} id={id} />;
  }
}

function Reached({ id }: { readonly id: string }) {
  const { deployments } = usePage();
  const known = deployments.find((deployment) => deployment.id === id);
  return (
    <li>
      <strong>{known?.name ?? id}</strong>
      {known !== undefined && known.description !== '' && <span className="soft"> {known.description}</span>}
    </li>
  );
}
