import { Suspense, useEffect, useMemo, useRef, useState } from 'react';
import type { Question, Reply } from '../../conversation/conversation.ts';
import { useNameOf, usePage } from '../../page/page.tsx';
import { toHash } from '../../page/place.ts';
import { Icon } from '../../parts/icon.tsx';
import { Guard, lazyView } from '../../parts/lazy-view.tsx';
import { FaultDetails } from '../../parts/trouble.tsx';
import type { ConsentForm } from '../../service/consents.ts';
import type { Fault } from '../../service/fault.ts';
import { adviceFor } from '../../words/advice.ts';
import { saidOfAnswer } from '../../words/fault-words.ts';
import { useLanguage, useWords } from '../../words/words.tsx';
import { ConsentAsk } from '../consent/consent-ask.tsx';
import type { Said } from '../said.ts';
import { ReplyBody, ReplyName } from './reply-body.tsx';
import '../notes.css';

const ControlList = lazyView(() => import('./control-list.tsx').then(({ ControlList: view }) => view));
const loadActions = () => import('./reply-actions.tsx');
const loadEditor = () => import('./reply-editor.tsx');
const ReplyActions = lazyView(() => loadActions().then(({ ReplyActions: view }) => view));
const ReplyEditor = lazyView(() => loadEditor().then(({ ReplyEditor: view }) => view));
const SideBySide = lazyView(() => import('./side-by-side.tsx').then(({ SideBySide: view }) => view));

interface ReplyViewProps {
  readonly reply: Reply;
  readonly branches: readonly string[];
  readonly conversationId: string;
  readonly answered: Question | undefined;
  readonly say: ((said: Said) => void) | undefined;
  readonly isLate: boolean;
}

/** An answer with everything that came with it, or its versions side by side. */
export function ReplyView({ reply, branches, conversationId, answered, say, isLate }: ReplyViewProps) {
  const { custom, state } = reply;
  const words = useWords();
  const { deployments, asking } = usePage();
  const [isBeside, setIsBeside] = useState(() => asking.isBeside(reply.parent));
  const setBeside = (next: boolean): void => {
    if (!next) asking.chooseOne(reply.parent);
    setIsBeside(next);
  };
  const name = deployments.find(({ id }) => id === reply.deployment)?.name ?? reply.deployment;
  const isRunning = state === 'running';
  const { isEditing, setIsEditing, article } = useEditing();
  // What can be done with the answer is there when it is, also if the network is not by then.
  useEffect(() => void Promise.allSettled([loadActions(), loadEditor()]), []);
  if (isEditing)
    return (
      <Guard instead={<EditorMissing close={() => setIsEditing(false)} />}>
        <Suspense fallback={<ReplyBody {...{ reply, isLate }} />}>
          <ReplyEditor {...{ reply, conversationId, isLast: say !== undefined }} close={() => setIsEditing(false)} />
        </Suspense>
      </Guard>
    );
  return (
    <article ref={article} className="reply" aria-label={name} aria-busy={isRunning}>
      {isBeside ? (
        <Suspense fallback={<ReplyBody {...{ reply, isLate }} />}>
          <SideBySide {...{ conversationId, branches }} close={() => setBeside(false)} />
        </Suspense>
      ) : (
        <>
          <ReplyName reply={reply} />
          <ReplyBody {...{ reply, isLate }} />
        </>
      )}
      {Array.isArray(custom.controls) && !isRunning && (
        <Guard instead={<p className="note">{words.partMissing}</p>}>
          <Suspense fallback={null}>
            <ControlList {...{ controls: custom.controls, answered, say }} key={reply.id} />
          </Suspense>
        </Guard>
      )}
      {reply.fault !== undefined && (
        <FaultNote
          {...{ fault: reply.fault, atMs: reply.endedAtMs, deployment: reply.deployment, conversationId }}
          again={() => void asking.answer(conversationId, reply.parent)}
        />
      )}
      {!isRunning && (
        <Guard instead={<p className="note">{words.partMissing}</p>}>
          <Suspense fallback={<div className="part-coming" />}>
            <ReplyActions
              {...{ reply, branches, conversationId, isBeside, say }}
              setIsBeside={setBeside}
              edit={() => setIsEditing(true)}
            />
          </Suspense>
        </Guard>
      )}
    </article>
  );
}

/** Whether the answer is being changed; afterwards the focus is where it was before. */
function useEditing() {
  const [isEditing, setIsEditing] = useState(false);
  const article = useRef<HTMLElement>(null);
  const wasEditing = useRef(false);
  useEffect(() => {
    if (!isEditing && wasEditing.current) article.current?.querySelector<HTMLElement>('.edit-answer')?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  return { isEditing, setIsEditing, article };
}

/** In place of an editor that could not be loaded. */
function EditorMissing({ close }: { readonly close: () => void }) {
  const words = useWords();
  return (
    <p className="note">
      {words.partMissing}{' '}
      <button type="button" className="button slim" onClick={close}>
        {words.close}
      </button>
    </p>
  );
}

interface FaultNoteProps {
  readonly fault: Fault;
  /** When it came. */
  readonly atMs: number | undefined;
  readonly deployment: string;
  readonly conversationId: string;
  /** Asks the same once more. */
  readonly again: () => void;
}

/** What went wrong in words, and what helps. */
function FaultNote({ fault, atMs, deployment, conversationId, again }: FaultNoteProps) {
  const { words, language } = useLanguage();
  const { signOut } = usePage();
  const name = useNameOf()(deployment);
  const form = useMemo(() => toForm(fault, deployment), [fault, deployment]);
  const consent = toHash({ at: 'consent', deployment, back: conversationId });
  return (
    <div className="fault">
      <Icon name="alert" />
      <div>
        <p className="fault-title">
          {fault.code === 'consent_required' ? words.consentMissing(words.quoted(name)) : saidOfAnswer(fault, words)}
        </p>
        {form === undefined ? (
          <p>{adviceFor(fault, { words, language, ...(atMs !== undefined && { atMs }) })}</p>
        ) : (
          <ConsentAsk {...{ deployment, form, goOn: again }} conversation={conversationId} />
        )}
        <FaultDetails fault={fault} />
        {fault.code === 'consent_required' && form === undefined && (
          <a className="button" href={consent}>
            {words.consentLook}
          </a>
        )}
        {fault.status === 401 && (
          <button type="button" className="button" onClick={signOut}>
            {words.signIn}
          </button>
        )}
      </div>
    </div>
  );
}

/** The form that a refusal carries, if it is that of the deployment itself. */
function toForm({ consent }: Fault, deployment: string): ConsentForm | undefined {
  return consent?.deployment === deployment ? new Map(Object.entries(consent.form)) : undefined;
}
