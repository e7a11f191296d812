import { useDeferredValue, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { DisplayedAttachment } from '../../attachments/attachment-kind.ts';
import { AttachmentList } from '../../attachments/attachment-list.tsx';
import {
  type CitedSource,
  listCitedNumbers,
  removeTitleNumber,
  resolveCitations,
  type Sources,
  SourcesContext,
} from '../../attachments/citations.ts';
import { SourceRow } from '../../attachments/source-row.tsx';
import { listClientCalls, type Reply, type UsedContext } from '../../conversation/conversation.ts';
import { maxRetries, type Retry } from '../../conversation/stream-reply-with-retries.ts';
import type { Strings } from '../../locales/en/page.ts';
import { PlainText, TextStart } from '../../markdown/long-text.tsx';
import { Guard, LazyDialog, lazyView } from '../../parts/lazy-view.tsx';
import { useGetName, usePage } from '../../shell/page.tsx';
import { describeAnswerError } from '../../strings/describe-error.ts';
import { useLanguage, useStrings } from '../../strings/strings.tsx';
import { hasStageWithoutConsent, withoutConsentPath } from '../consent/missing-consent.ts';
import { DeploymentIcon } from '../deployments/deployment-icon.tsx';
import { TurnTime } from '../turn-time.tsx';
import './turns.css';

const Markdown = lazyView(() => import('../../markdown/markdown.tsx').then(({ Markdown: view }) => view));
const StageList = lazyView(() => import('./stage-list.tsx').then(({ StageList: view }) => view));
const SourcePanel = lazyView(() => import('../../attachments/source-panel.tsx').then(({ SourcePanel: view }) => view));

/** Name of the answering deployment. */
export function ReplyName({ reply }: { readonly reply: Reply }) {
  const strings = useStrings();
  const { deployments } = usePage();
  const getName = useGetName();
  const deployment = deployments.find(({ id }) => id === reply.deployment);
  return (
    <p className="reply-name">
      {deployment !== undefined && <DeploymentIcon deployment={deployment} size="tiny" />}
      <span className="reply-deployment">{getName(reply.deployment, reply.deploymentName)}</span>
      {reply.isEdited === true && <span className="edited">{strings.edited}</span>}
      {reply.usedContext !== undefined && <span className="soft small">{formatContext(reply.usedContext, strings)}</span>}
      <TurnTime atMs={reply.atMs} />
    </p>
  );
}

function formatContext({ hasNotes, projects }: UsedContext, strings: Strings): string {
  const names = projects.map((name) => strings.projectNamed(name));
  return strings.usedContext([...(hasNotes ? [strings.yourMemory] : []), ...names].join(', '));
}

/** Content of an answer: steps, thoughts, text, attachments, and notes. */
export function ReplyBody({ reply, isDeferred }: { readonly reply: Reply; readonly isDeferred: boolean }) {
  const { custom, state, thoughts, stageTimes } = reply;
  const text = hasStageWithoutConsent(reply) ? withoutConsentPath(reply.text) : reply.text;
  const isRunning = state === 'running';
  const { citedSources, otherAttachments, selected, show, sources } = useSources(reply);
  const stages = Array.isArray(custom.stages) ? custom.stages : [];
  return (
    <>
      {stages.length > 0 && (
        <Guard fallback={null} pending={<div className="part-pending" />}>
          <StageList {...{ stages, isRunning }} times={stageTimes} />
        </Guard>
      )}
      {thoughts !== undefined && <Thoughts text={thoughts} />}
      {text !== '' && (
        <TextStart text={text}>
          {(start) => (
            <Guard fallback={<Plain text={start} />} pending={<Plain text={start} />}>
              <SourcesContext value={sources}>
                <Markdown text={start} isGrowing={isRunning} isDeferred={isDeferred} />
              </SourcesContext>
            </Guard>
          )}
        </TextStart>
      )}
      {isRunning && text === '' && <Waiting replyId={reply.id} />}
      {isRunning && text !== '' && <Reconnecting replyId={reply.id} />}
      {citedSources.length > 0 && <SourceRow {...{ selected, show }} sources={citedSources} />}
      {selected !== undefined && (
        <LazyDialog onClose={() => show(undefined)}>
          <SourcePanel {...{ selected, show }} sources={citedSources} close={() => show(undefined)} />
        </LazyDialog>
      )}
      <AttachmentList attachments={otherAttachments} />
      <Remarks reply={reply} />
    </>
  );
}

function Plain({ text }: { readonly text: string }) {
  return (
    <div className="markdown plain" dir="auto">
      <PlainText text={text} />
    </div>
  );
}

/** Notes about an answer that did not end normally, that calls client tools, or whose request omitted messages or files. */
function Remarks({ reply }: { readonly reply: Reply }) {
  const { strings, locale } = useLanguage();
  const { state, isLost, finish, omittedMessages = 0, omittedFiles = [] } = reply;
  const name = useGetName()(reply.deployment);
  const remarks = [
    state === 'stopped' && strings.stopped,
    state === 'interrupted' && (isLost === true ? strings.answerLost : strings.interrupted),
    finish === 'length' && strings.lengthLimitReached,
    finish === 'content_filter' && strings.filtered,
    omittedMessages > 0 && strings.oldestLeftOut,
    omittedFiles.length > 0 && strings.filesLeftOut(name, new Intl.ListFormat(locale).format(omittedFiles)),
    ...listClientCalls(reply).map((call) => strings.toolCalled(call.name)),
  ];
  return [...new Set(remarks)]
    .filter((remark) => remark !== false)
    .map((remark) => (
      <p key={remark} className="note">
        {remark}
      </p>
    ));
}

const noAttachments: readonly DisplayedAttachment[] = [];

/** Returns the sources that a complete answer cites, its other attachments, and the selected source. */
function useSources({ text, custom, state }: Reply) {
  const strings = useStrings();
  const [selected, show] = useState<number>();
  const attachments = Array.isArray(custom.attachments) ? custom.attachments : noAttachments;
  const isRunning = state === 'running';
  const { citedSources, otherAttachments } = useMemo(() => {
    // Attachments that may be sources stay hidden until the text that may cite them is complete.
    if (isRunning)
      return { citedSources: [], otherAttachments: attachments.filter(({ reference_url: source }) => source === undefined) };
    const indexes = resolveCitations(text, attachments);
    // If a cited number has no source, it stays in the text, so the other numbers must not change.
    const isComplete = indexes.size === listCitedNumbers(text).length;
    const unsortedSources = Array.from([...indexes], ([citedNumber, at], position): CitedSource => {
      const attachment = attachments[at] ?? {};
      const name = removeTitleNumber(String(attachment.title || strings.attachment));
      return { number: isComplete ? position + 1 : citedNumber, citedNumber, attachment, name };
    });
    const citedIndexes = new Set(indexes.values());
    return {
      citedSources: unsortedSources.sort((left, right) => left.number - right.number),
      otherAttachments: attachments.filter((_, index) => !citedIndexes.has(index)),
    };
  }, [isRunning, text, attachments, strings]);
  const sources = useMemo<Sources | undefined>(() => {
    if (citedSources.length === 0) return undefined;
    return { find: (number) => citedSources.find(({ citedNumber }) => citedNumber === number), show };
  }, [citedSources]);
  // Long text may have to be rendered again, so this update has a low priority.
  return { citedSources, otherAttachments, selected, show, sources: useDeferredValue(sources) };
}

const longWaitMs = 10_000;

/** Shows that an answer is pending and why: a retry with its reason, a lost connection, no network, or a long wait. */
function Waiting({ replyId }: { readonly replyId: string }) {
  const strings = useStrings();
  const { replyRunner } = usePage();
  const [isLong, setIsLong] = useState(false);
  const isOnline = useOnline();
  const isReconnecting = useIsReconnecting(replyId);
  const retry = useSyncExternalStore(replyRunner.subscribeToRetries, () => replyRunner.getRetry(replyId));
  useEffect(() => {
    const timer = setTimeout(() => setIsLong(true), longWaitMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="waiting soft">
      <span className="pulse" aria-hidden="true" />
      {isOnline && retry !== undefined && <RetryNote retry={retry} />}
      {isOnline && retry === undefined && !isReconnecting && (isLong ? strings.stillWaiting : strings.waiting)}
      {isOnline && retry === undefined && isReconnecting && strings.answerReconnecting}
      {!isOnline && (isReconnecting ? strings.answerReconnecting : strings.waitingOffline)}
    </p>
  );
}

/** Shows that the connection of an answer in progress is being restored. */
function Reconnecting({ replyId }: { readonly replyId: string }) {
  const strings = useStrings();
  return useIsReconnecting(replyId) && <p className="waiting soft">{strings.answerReconnecting}</p>;
}

function useIsReconnecting(replyId: string): boolean {
  const { replyRunner } = usePage();
  return useSyncExternalStore(replyRunner.subscribeToRetries, () => replyRunner.isReconnecting(replyId));
}

/** The reason for a retry, and the seconds until it starts. */
function RetryNote({ retry: { error, atMs, number } }: { readonly retry: Retry }) {
  const strings = useStrings();
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((atMs - nowMs) / 1000));
  return `${describeAnswerError(error, strings)} ${strings.tryingAgain(seconds, number, maxRetries)}`;
}

function useOnline(): boolean {
  const [isOnline, setIsOnline] = useState(navigator.onLine);
  useEffect(() => {
    const update = (): void => setIsOnline(navigator.onLine);
    addEventListener('online', update);
    addEventListener('offline', update);
    return () => {
      removeEventListener('online', update);
      removeEventListener('offline', update);
    };
  }, []);
  return isOnline;
}

/** The thoughts of a model before its answer, collapsed. */
export function Thoughts({ text }: { readonly text: string }) {
  const strings = useStrings();
  return (
    <details className="thoughts">
      <summary>{strings.thoughts}</summary>
      <TextStart text={text}>
        {(start) => (
          <p className="soft" dir="auto">
            <PlainText text={start} />
          </p>
        )}
      </TextStart>
    </details>
  );
}
