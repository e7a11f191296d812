import { type ReactNode, useId, useState } from 'react';
import { DeploymentName } from '../parts/deployment-name.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { TextButton } from '../parts/icon.tsx';
import { focusOnMount } from '../parts/use-focus-inside.ts';
import { useAction } from '../parts/use-loaded.ts';
import { usePage } from '../shell/page.tsx';
import { formatDateTime, formatSeconds, formatUsd } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';

import { type Call, type RecordedContent, type RecordedMessage, readContent } from './read-calls.ts';
import { useUsageStrings } from './usage-strings.ts';
import { unsavedIdPattern, useGetUsageName } from './use-get-usage-name.ts';

interface CallViewProps {
  readonly call: Call;
  readonly close: () => void;
}

/** The metadata of a call. Administrators can also read its content. */
export function CallView({ call, close }: CallViewProps) {
  const strings = useUsageStrings();
  const { locale } = useLanguage();
  const getName = useGetUsageName();
  const { isAdmin } = usePage();
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    [strings.time, <CallTime key="time" atMs={call.atMs} />],
    [strings.deployment, <CalledDeployment key="deployment" id={call.deployment} />],
    ...(call.calledBy === '' ? [] : [[strings.caller, getName(call.calledBy)] as const]),
    [strings.person, call.user || strings.unnamed],
    [strings.project, call.project || strings.unnamed],
    [strings.outcome, <CallOutcome key="outcome" call={call} />],
    [strings.tokensIn, call.promptTokens.toLocaleString(locale)],
    [strings.tokensOut, call.completionTokens.toLocaleString(locale)],
    [strings.cost, formatUsd(call.cost, locale)],
    [strings.duration, formatSeconds(call.durationMs, locale)],
    [strings.requestId, <code key="id">{call.requestId}</code>],
  ];
  return (
    <div className="calls">
      <div className="sheet-title">
        <h3 ref={focusOnMount} tabIndex={-1}>
          {strings.oneCall}
        </h3>
        <TextButton onClick={close}>{strings.backToCalls}</TextButton>
      </div>
      <dl className="call-facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {isAdmin && <Content id={call.id} />}
    </div>
  );
}

/** The content of a call. It is loaded only on demand, because the audit log records each access. */
function Content({ id }: { readonly id: string }) {
  const strings = useUsageStrings();
  const { service } = usePage();
  const [content, setContent] = useState<RecordedContent | null>();
  const { error, isRunning: isLoading, run } = useAction();
  const noticeId = useId();
  const load = (): void => void run(() => readContent(service, id).then(setContent));
  return (
    <section className="call-content" aria-busy={isLoading} aria-label={strings.content}>
      <h4>{strings.content}</h4>
      <p id={noticeId} className="soft small">
        {strings.contentNotice}
      </p>
      <ErrorMessage error={error} />
      {content === undefined && (
        <div>
          <button type="button" className="button" aria-describedby={noticeId} disabled={isLoading} onClick={load}>
            {strings.showContent}
          </button>
        </div>
      )}
      {content === null && <p>{strings.noContent}</p>}
      {content && (
        <>
          {content.isTruncated && <p>{strings.contentTruncated}</p>}
          <h5>{strings.sentRequest}</h5>
          <Messages messages={content.request} />
          <h5>{strings.reply}</h5>
          {content.reply === undefined ? <p className="soft">{strings.noReply}</p> : <Messages messages={content.reply} />}
          <details>
            <summary>{strings.asJson}</summary>
            <pre className="call-text">{content.json}</pre>
          </details>
        </>
      )}
    </section>
  );
}

function Messages({ messages }: { readonly messages: readonly RecordedMessage[] }) {
  return (
    <ol className="call-messages">
      {messages.map(({ role, text, otherFields }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change
        <li key={index}>
          {role !== '' && <strong className="small">{role}</strong>}
          {text !== '' && <pre className="call-text">{text}</pre>}
          {otherFields !== '' && <pre className="call-text">{otherFields}</pre>}
        </li>
      ))}
    </ol>
  );
}

export function CallTime({ atMs }: { readonly atMs: number }) {
  const { locale } = useLanguage();
  return (
    <time className="call-time" dateTime={new Date(atMs).toISOString()}>
      {formatDateTime(atMs, locale)}
    </time>
  );
}

/** The name and ID of a called deployment, which can be an unsaved application. */
export function CalledDeployment({ id }: { readonly id: string }) {
  const getName = useGetUsageName();
  return <DeploymentName id={id} name={unsavedIdPattern.test(id) ? getName(id) : undefined} />;
}

export function CallOutcome({ call: { outcome, status } }: { readonly call: Call }) {
  const strings = useUsageStrings();
  return (
    <span className={outcome === 'failed' ? 'error-text' : undefined}>
      {strings.outcomes[outcome]}
      {outcome !== 'ok' && <span className="soft small"> {status}</span>}
    </span>
  );
}
