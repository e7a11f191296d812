import { Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { toUnsharedMessage } from '#contract/deployment-path.ts';
import { listClientCalls, type Question, type Reply, type UserMessage } from '../../conversation/conversation.ts';
import { ErrorSupport } from '../../parts/error-message.tsx';
import { Icon, TextButton } from '../../parts/icon.tsx';
import { Guard, lazyView } from '../../parts/lazy-view.tsx';
import type { ConsentForm } from '../../service/consents.ts';
import { type ErrorDetails, isRejection } from '../../service/service-error.ts';
import { useGetName, usePage } from '../../shell/page.tsx';
import { formatRoute } from '../../shell/route.ts';
import { describeAnswerError } from '../../strings/describe-error.ts';
import { useLanguage, useStrings } from '../../strings/strings.tsx';
import { suggestAction } from '../../strings/suggest-action.ts';
import { ConsentPrompt } from '../consent/consent-prompt.tsx';
import { ReplyBody, ReplyName } from './reply-body.tsx';
import '../notes.css';

const ControlList = lazyView(() => import('./control-list.tsx').then(({ ControlList: view }) => view));
const loadActions = () => import('./reply-actions.tsx');
const loadEditor = () => import('./reply-editor.tsx');
let isPreloaded = false;

/**
 * Loads the code of the actions and the editor once for all replies, because each import searches the complete page for its style
 * sheet.
 */
function preloadActions(): void {
  if (isPreloaded) return;
  isPreloaded = true;
  void Promise.all([loadActions(), loadEditor()]).catch(() => {
    isPreloaded = false;
  });
}

const ReplyActions = lazyView(() => loadActions().then(({ ReplyActions: view }) => view));
const ReplyEditor = lazyView(() => loadEditor().then(({ ReplyEditor: view }) => view));
const ToolResultForm = lazyView(() => import('./tool-result-form.tsx').then(({ ToolResultForm: view }) => view));
const TooLongActions = lazyView(() => import('./too-long-actions.tsx').then(({ TooLongActions: view }) => view));
const SideBySide = lazyView(() => import('./side-by-side.tsx').then(({ SideBySide: view }) => view));

interface ReplyViewProps {
  readonly reply: Reply;
  readonly versionIds: readonly string[];
  readonly conversationId: string;
  readonly nextQuestion: Question | undefined;
  readonly sendMessage: ((message: UserMessage) => void) | undefined;
  readonly isDeferred: boolean;
}

/** An answer with all its parts, or its versions side by side. */
export function ReplyView({ reply, versionIds, conversationId, nextQuestion, sendMessage, isDeferred }: ReplyViewProps) {
  const { custom, state } = reply;
  const strings = useStrings();
  const { replyRunner } = usePage();
  const [isSideBySide, setIsSideBySide] = useState(() => replyRunner.isSideBySide(reply.parent));
  const setSideBySide = (next: boolean): void => {
    if (!next) replyRunner.endSideBySide(reply.parent);
    setIsSideBySide(next);
  };
  const name = useGetName()(reply.deployment, reply.deploymentName);
  const isRunning = state === 'running';
  const calls = listClientCalls(reply);
  const { isEditing, setIsEditing, article } = useEditing();
  // Loads the actions together with the answer, because the network may be gone when they are needed.
  useEffect(preloadActions, []);
  if (isEditing)
    return (
      <Guard fallback={<EditorMissing close={() => setIsEditing(false)} />} pending={<ReplyBody {...{ reply, isDeferred }} />}>
        <ReplyEditor {...{ reply, conversationId, isLast: sendMessage !== undefined }} close={() => setIsEditing(false)} />
      </Guard>
    );
  return (
    <article ref={article} className="reply" aria-label={name} aria-busy={isRunning}>
      {isSideBySide ? (
        <Suspense fallback={<ReplyBody {...{ reply, isDeferred }} />}>
          <SideBySide {...{ conversationId, versionIds }} close={() => setSideBySide(false)} />
        </Suspense>
      ) : (
        <>
          <ReplyName reply={reply} />
          <ReplyBody {...{ reply, isDeferred }} />
        </>
      )}
      {Array.isArray(custom.controls) && !isRunning && (
        <Guard fallback={<p className="note">{strings.partMissing}</p>}>
          <ControlList {...{ controls: custom.controls, nextQuestion, sendMessage }} key={reply.id} />
        </Guard>
      )}
      {calls.length > 0 && sendMessage !== undefined && state === 'done' && (
        <Guard fallback={<p className="note">{strings.partMissing}</p>}>
          <ToolResultForm {...{ calls, sendMessage }} key={reply.id} />
        </Guard>
      )}
      {reply.fault !== undefined && (
        <ErrorNote
          {...{ error: reply.fault, atMs: reply.endedAtMs, deployment: reply.deployment, conversationId }}
          questionId={reply.parent}
          retry={() => void replyRunner.answer(conversationId, reply.parent)}
        />
      )}
      {!isRunning && (
        <Guard fallback={<p className="note">{strings.partMissing}</p>} pending={<div className="part-pending" />}>
          <ReplyActions
            {...{ reply, versionIds, conversationId, isSideBySide, sendMessage }}
            setIsSideBySide={setSideBySide}
            edit={() => setIsEditing(true)}
          />
        </Guard>
      )}
    </article>
  );
}

/** Tracks whether the answer is being edited. Afterward, the edit button gets the focus. */
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

/** Shown if the editor could not be loaded. */
function EditorMissing({ close }: { readonly close: () => void }) {
  const strings = useStrings();
  return (
    <p className="note">
      {strings.partMissing}{' '}
      <TextButton className="button slim" onClick={close}>
        {strings.close}
      </TextButton>
    </p>
  );
}

interface ErrorNoteProps {
  readonly error: ErrorDetails;
  /** Time of the error. */
  readonly atMs: number | undefined;
  readonly deployment: string;
  readonly conversationId: string;
  readonly questionId: string;
  /** Repeats the request. */
  readonly retry: () => void;
}

/** Explains an error and suggests an action. */
function ErrorNote({ error, atMs, deployment, conversationId, questionId, retry }: ErrorNoteProps) {
  const { strings, locale } = useLanguage();
  const { signOut, deployments } = usePage();
  const name = useGetName()(deployment);
  const isUnshared = error.message === toUnsharedMessage(deployment);
  const formerSharer = isUnshared ? deployments.find(({ id }) => id === deployment)?.ownerName : undefined;
  const needsConsent = error.code === 'consent_required';
  const title = needsConsent ? strings.consentMissing(strings.quoted(name)) : describeAnswerError(error, strings);
  const form = useMemo(() => toForm(error, deployment), [error, deployment]);
  const consent = formatRoute({ at: 'consent', deployment, back: conversationId });
  return (
    <div className="answer-error">
      <Icon name="alert" />
      <div>
        <p className="answer-error-title">{formerSharer === undefined ? title : strings.noLongerShared(formerSharer)}</p>
        {isRejection(error) && error.displayMessage === undefined && error.message !== '' && (
          <p className="answer-error-reason" dir="auto">
            {error.message}
          </p>
        )}
        {formerSharer !== undefined ? null : form === undefined ? (
          <p>{suggestAction(error, { strings, locale, isAnswer: true, ...(atMs !== undefined && { atMs }) })}</p>
        ) : (
          <ConsentPrompt {...{ deployment, form, onAccept: retry }} conversationId={conversationId} />
        )}
        {error.code === 'context_length_exceeded' && (
          <Guard fallback={null}>
            <TooLongActions {...{ conversationId, questionId, deployment }} />
          </Guard>
        )}
        <ErrorSupport error={error} />
        {needsConsent && form === undefined && (
          <a className="button" href={consent}>
            {strings.reviewPermissions}
          </a>
        )}
        {error.status === 401 && <TextButton onClick={signOut}>{strings.signIn}</TextButton>}
      </div>
    </div>
  );
}

/** Returns the consent form of an error if it belongs to the deployment itself. */
function toForm({ consent }: ErrorDetails, deployment: string): ConsentForm | undefined {
  return consent?.deployment === deployment ? new Map(Object.entries(consent.form)) : undefined;
}
