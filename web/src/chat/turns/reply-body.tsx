import { Suspense, useDeferredValue, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { AttachmentList } from '../../attachments/attachment-list.tsx';
import { type CitedSource, toCited, withoutMark } from '../../attachments/cited.ts';
import type { ShownAttachment } from '../../attachments/kind-of.ts';
import { SourceRow } from '../../attachments/source-row.tsx';
import { mostRetries, type Retry } from '../../conversation/ask-patiently.ts';
import type { Reply } from '../../conversation/conversation.ts';
import { type Sources, SourcesContext } from '../../markdown/sources.ts';
import { usePage } from '../../page/page.tsx';
import { Guard, LaterDialog, lazyView } from '../../parts/lazy-view.tsx';
import { saidOfAnswer } from '../../words/fault-words.ts';
import { useWords } from '../../words/words.tsx';
import { hasRefusedStage, withoutConsentPath } from '../consent/consent-refusal.ts';
import { DeploymentIcon } from '../deployments/deployment-icon.tsx';

const Markdown = lazyView(() => import('../../markdown/markdown.tsx').then(({ Markdown: view }) => view));
const StageList = lazyView(() => import('./stage-list.tsx').then(({ StageList: view }) => view));
const SourcePanel = lazyView(() => import('../../attachments/source-panel.tsx').then(({ SourcePanel: view }) => view));

/** Who answers. */
export function ReplyName({ reply }: { readonly reply: Reply }) {
  const words = useWords();
  const { deployments } = usePage();
  const deployment = deployments.find(({ id }) => id === reply.deployment);
  return (
    <p className="reply-name">
      {deployment !== undefined && <DeploymentIcon deployment={deployment} size="tiny" />}
      {deployment?.name ?? reply.deployment}
      {reply.isEdited === true && <span className="edited">{words.edited}</span>}
    </p>
  );
}

/** What an answer says and brings: steps, thoughts, text, attachments, and how it ended. */
export function ReplyBody({ reply, isLate }: { readonly reply: Reply; readonly isLate: boolean }) {
  const { custom, state, thoughts, stageTimes } = reply;
  const text = hasRefusedStage(reply) ? withoutConsentPath(reply.text) : reply.text;
  const isRunning = state === 'running';
  const { cited, others, shown, show, sources } = useSources(reply);
  const stages = Array.isArray(custom.stages) ? custom.stages : [];
  const plain = (
    <div className="markdown plain" dir="auto">
      {text}
    </div>
  );
  return (
    <>
      {stages.length > 0 && (
        <Guard instead={null}>
          <Suspense fallback={<div className="part-coming" />}>
            <StageList {...{ stages, isRunning }} times={stageTimes} />
          </Suspense>
        </Guard>
      )}
      {thoughts !== undefined && <Thoughts text={thoughts} />}
      {text !== '' && (
        <Guard instead={plain}>
          <Suspense fallback={plain}>
            <SourcesContext value={sources}>
              <Markdown text={text} isGrowing={isRunning} isLate={isLate} />
            </SourcesContext>
          </Suspense>
        </Guard>
      )}
      {isRunning && text === '' && <Waiting replyId={reply.id} />}
      {cited.length > 0 && <SourceRow {...{ cited, shown, show }} />}
      {shown !== undefined && (
        <LaterDialog close={() => show(undefined)}>
          <SourcePanel {...{ cited, shown, show }} close={() => show(undefined)} />
        </LaterDialog>
      )}
      <AttachmentList attachments={others} />
      <Remarks reply={reply} />
    </>
  );
}

/** How the answer ended, where that is not the usual way. */
function Remarks({ reply: { state, finish, functionCall } }: { readonly reply: Reply }) {
  const words = useWords();
  const remarks = [
    state === 'stopped' && words.stopped,
    state === 'interrupted' && words.interrupted,
    finish === 'length' && words.cutShort,
    finish === 'content_filter' && words.filtered,
    functionCall !== undefined && words.functionCalled(functionCall.name ?? ''),
  ];
  return remarks
    .filter((remark) => remark !== false)
    .map((remark) => (
      <p key={remark} className="note">
        {remark}
      </p>
    ));
}

const none: readonly ShownAttachment[] = [];

/** What an answer cites once it is whole, what it brings beside that, and which source is looked at. */
function useSources({ text, custom, state }: Reply) {
  const words = useWords();
  const [shown, show] = useState<number>();
  const attachments = Array.isArray(custom.attachments) ? custom.attachments : none;
  const isRunning = state === 'running';
  const { cited, others } = useMemo(() => {
    // What may turn out to be a source waits for the text that cites it.
    if (isRunning) return { cited: [], others: attachments.filter(({ reference_url: source }) => source === undefined) };
    const places = toCited(text, attachments);
    const found = Array.from(places, ([number, at]): CitedSource => {
      const attachment = attachments[at] ?? {};
      const name = withoutMark(String(attachment.title || words.attachment));
      return { number, attachment, name };
    });
    const isCited = new Set(places.values());
    return {
      cited: found.sort((one, other) => one.number - other.number),
      others: attachments.filter((_, at) => !isCited.has(at)),
    };
  }, [isRunning, text, attachments, words]);
  const sources = useMemo<Sources | undefined>(() => {
    if (cited.length === 0) return undefined;
    return { nameOf: (wanted) => cited.find(({ number }) => number === wanted)?.name, show };
  }, [cited]);
  // What is drawn anew for it may be long, and can wait.
  return { cited, others, shown, show, sources: useDeferredValue(sources) };
}

const longMs = 10_000;

/** Says that an answer is on its way; that it is asked for again, and why; after a while that it still is, or that there is no network. */
function Waiting({ replyId }: { readonly replyId: string }) {
  const words = useWords();
  const { asking } = usePage();
  const [isLong, setIsLong] = useState(false);
  const isOnline = useOnline();
  const retry = useSyncExternalStore(asking.hearRetries, () => asking.retryOf(replyId));
  useEffect(() => {
    const timer = setTimeout(() => setIsLong(true), longMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="waiting soft">
      <span className="pulse" aria-hidden="true" />
      {isOnline && retry !== undefined && <RetryNote retry={retry} />}
      {isOnline && retry === undefined && (isLong ? words.stillWaiting : words.waiting)}
      {!isOnline && words.waitingOffline}
    </p>
  );
}

/** Why nothing came, and when the same is asked again. */
function RetryNote({ retry: { fault, atMs, number } }: { readonly retry: Retry }) {
  const words = useWords();
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((atMs - nowMs) / 1000));
  return `${saidOfAnswer(fault, words)} ${words.tryingAgain(seconds, number, mostRetries)}`;
}

function useOnline(): boolean {
  const [isOnline, setIsOnline] = useState(navigator.onLine);
  useEffect(() => {
    const look = (): void => setIsOnline(navigator.onLine);
    addEventListener('online', look);
    addEventListener('offline', look);
    return () => {
      removeEventListener('online', look);
      removeEventListener('offline', look);
    };
  }, []);
  return isOnline;
}

/** What a model thought before its answer, folded. */
export function Thoughts({ text }: { readonly text: string }) {
  const words = useWords();
  return (
    <details className="thoughts">
      <summary>{words.thoughts}</summary>
      <p className="soft" dir="auto">
        {text}
      </p>
    </details>
  );
}
