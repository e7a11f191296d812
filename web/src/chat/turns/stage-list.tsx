import { Suspense, useState } from 'react';
import type { StageDelta } from '#contract/chat/chunk.ts';
import { AttachmentList } from '../../attachments/attachment-list.tsx';
import type { StageTime } from '../../conversation/conversation.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { saveFile, toFileName } from '../../parts/device-files.tsx';
import { Icon, IconButton } from '../../parts/icon.tsx';
import { lazyView } from '../../parts/lazy-view.tsx';
import { useLanguage } from '../../strings/strings.tsx';
import { withoutConsentPath } from '../consent/missing-consent.ts';
import './stages.css';

const Markdown = lazyView(() => import('../../markdown/markdown.tsx').then(({ Markdown: view }) => view));

interface StageListProps {
  readonly stages: readonly StageDelta[];
  readonly times: Readonly<Record<number, StageTime>>;
  readonly isRunning: boolean;
}

type StageState = 'running' | 'done' | 'failed' | 'unfinished';

/** Steps of a reply: one line each while it runs, and one collapsed line afterward. */
export function StageList({ stages, times, isRunning }: StageListProps) {
  const { strings, locale } = useLanguage();
  const failedCount = stages.filter(({ status }) => status === 'failed').length;
  const isWorking = isRunning && stages.some(({ status }) => status == null);
  const hasUnfinishedStage = stages.some((stage) => getState(stage, isRunning) === 'unfinished');
  const [isOpen, setIsOpen] = useState<boolean>();
  const outerStages = stages.filter(({ index }) => times[index]?.within === undefined);
  const knownTimes = stages.map(({ index }) => times[index]).filter((time) => time !== undefined);
  const seconds = formatStageDuration(
    {
      startedAtMs: Math.min(...knownTimes.map(({ startedAtMs }) => startedAtMs)),
      endedAtMs: Math.max(...knownTimes.map(({ endedAtMs = Number.NaN }) => endedAtMs)),
    },
    locale,
  );
  return (
    <details
      className="stages"
      open={isOpen ?? isWorking}
      onToggle={({ currentTarget }) => currentTarget.open !== (isOpen ?? isWorking) && setIsOpen(currentTarget.open)}
    >
      <summary>
        <StageDot state={isWorking ? 'running' : failedCount > 0 ? 'failed' : hasUnfinishedStage ? 'unfinished' : 'done'} />
        <span>
          {strings.stageCount(stages.length)}
          {failedCount > 0 && ` · ${strings.stagesFailed(failedCount)}`}
          {!isWorking && seconds !== undefined && ` · ${seconds}`}
        </span>
        <Icon name="right" />
      </summary>
      <ol aria-label={strings.steps}>
        {outerStages.map((stage) => (
          <StageLine key={stage.index} {...{ stage, stages, times, isRunning }} />
        ))}
      </ol>
    </details>
  );
}

function StageLine({ stage, stages, times, isRunning }: StageListProps & { readonly stage: StageDelta }) {
  const { strings, locale } = useLanguage();
  const state = getState(stage, isRunning);
  const seconds = formatStageDuration(times[stage.index], locale);
  const stateNames: Record<StageState, string> = {
    running: strings.stageRunning,
    done: strings.stageDone,
    failed: strings.stageFailed,
    unfinished: strings.stageUnfinished,
  };
  const innerStages = stages.filter(({ index }) => times[index]?.within === stage.index);
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li>
      <details
        className="stage"
        onToggle={({ currentTarget, target }) => target === currentTarget && setIsOpen(currentTarget.open)}
      >
        <summary>
          <StageDot state={state} />
          <span className="stage-name">{stage.name || strings.unnamedStage}</span>
          <span className="soft small">
            {stateNames[state]}
            {seconds !== undefined && ` · ${seconds}`}
          </span>
          <Icon name="right" />
        </summary>
        {isOpen && (
          <div className="stage-body">
            <StageText text={withoutConsentPath(stage.content ?? '')} name={stage.name ?? ''} />
            <AttachmentList attachments={Array.isArray(stage.attachments) ? stage.attachments : []} />
          </div>
        )}
      </details>
      {innerStages.length > 0 && (
        <ol>
          {innerStages.map((child) => (
            <StageLine key={child.index} {...{ stage: child, stages, times, isRunning }} />
          ))}
        </ol>
      )}
    </li>
  );
}

const maxChars = 8000;

/** Text of a step. Shows only the start of a large text. Copying and downloading include all of it. */
function StageText({ text, name }: { readonly text: string; readonly name: string }) {
  const { strings, locale } = useLanguage();
  if (text === '') return null;
  const isTruncated = text.length > maxChars;
  return (
    <>
      <Suspense fallback={null}>
        {isTruncated ? (
          <pre className="stage-truncated">{text.slice(0, maxChars)}</pre>
        ) : (
          <Markdown text={text} isGrowing={false} />
        )}
      </Suspense>
      {isTruncated && (
        <p className="row small soft">
          {strings.truncatedText(maxChars.toLocaleString(locale), text.length.toLocaleString(locale))}
          <CopyButton text={() => text} />
          <IconButton
            icon="save"
            label={strings.download}
            onClick={() => saveFile(toFileName(name, 'md'), new Blob([text], { type: 'text/markdown' }))}
          />
        </p>
      )}
    </>
  );
}

function StageDot({ state }: { readonly state: StageState }) {
  return <span className={`stage-dot ${state}`} aria-hidden="true" />;
}

function getState({ status }: StageDelta, isRunning: boolean): StageState {
  if (status === 'completed') return 'done';
  if (status === 'failed') return 'failed';
  return isRunning ? 'running' : 'unfinished';
}

function formatStageDuration(time: StageTime | undefined, locale: string): string | undefined {
  if (time?.endedAtMs === undefined || !Number.isFinite(time.endedAtMs - time.startedAtMs)) return undefined;
  const seconds = (time.endedAtMs - time.startedAtMs) / 1000;
  if (seconds < 0.05) return undefined;
  return `${seconds.toLocaleString(locale, { maximumFractionDigits: seconds < 10 ? 1 : 0 })} s`;
}
