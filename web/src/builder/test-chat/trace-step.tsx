import type { BuilderStrings } from '../../locales/en/builder.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import { formatJson, type TraceStep, toSpan } from './read-trace.ts';
import { useFormatters } from './use-formatters.ts';

interface TraceStepProps {
  readonly step: TraceStep;
  /** Duration of the complete run. */
  readonly totalMs: number;
}

/** A step of the trace: a line with its duration, which expands to show its input and output. */
export function TraceStepView({ step, totalMs }: TraceStepProps) {
  const strings = useBuilderStrings();
  const { formatDuration, formatUsage } = useFormatters();
  const facts = [formatDuration(step.durationMs), ...formatUsage([step]), ...(step.hasFailed ? [strings.failed] : [])];
  return (
    <li className={step.kind === 'tool' ? 'trace-nested' : undefined}>
      <details className="trace-step">
        <summary>
          <Icon name="right" />
          <span className={`stage-dot ${step.hasFailed ? 'failed' : ''}`} aria-hidden="true" />
          <span className="trace-name">{getTitle(step, strings)}</span>
          <span className="soft small">{facts.join(' · ')}</span>
          <TraceBar {...{ step, totalMs }} />
        </summary>
        <div className="trace-parts">
          {step.kind === 'model' && <RequestPart step={step} />}
          {step.kind === 'context' && <Part title={strings.contextBefore} text={formatJson(step.sent)} />}
          {step.kind === 'tool' && <Part title={strings.toolArguments} text={formatJson(step.sent)} />}
          {step.received !== '' && <Part title={getResultTitle(step, strings)} text={step.received} />}
          {step.error !== undefined && <p className="error-text">{step.error}</p>}
          {step.firstMs !== undefined && <p className="soft small">{strings.firstAfter(formatDuration(step.firstMs))}</p>}
        </div>
      </details>
    </li>
  );
}

function getTitle({ kind, turn, name }: TraceStep, strings: BuilderStrings): string {
  const { modelTurn, toolRun, toolsetMissing, contextReduced } = strings;
  return { model: modelTurn(turn, name), tool: toolRun(name), toolset: toolsetMissing(name), context: contextReduced }[kind];
}

function getResultTitle({ kind }: TraceStep, strings: BuilderStrings): string {
  if (kind === 'context') return strings.contextAfter;
  return kind === 'model' ? strings.modelReply : strings.toolResult;
}

/** The messages sent to the model. Earlier messages are only counted. */
function RequestPart({ step: { request, sent } }: { readonly step: TraceStep }) {
  const strings = useBuilderStrings();
  const { messagesBefore, messages, tools, settings } = request;
  // A truncated request cannot be parsed, so it has no messages.
  if (messages.length === 0 && messagesBefore === 0) return <Part title={strings.messagesSent} text={sent} />;
  return (
    <div className="trace-part">
      <h3>
        {strings.messagesSent}
        <CopyButton text={() => formatJson(sent)} />
      </h3>
      {messagesBefore > 0 && <p className="soft small">{strings.messagesBefore(messagesBefore)}</p>}
      {messages.map(({ role, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the messages of one turn never move
        <div className="trace-message" key={index}>
          <span className="tag">{role}</span>
          <ScrollableText text={text} />
        </div>
      ))}
      <p className="small">
        <span className="soft">{strings.toolsOffered}</span> {describeTools(tools, strings)}
      </p>
      {settings !== '' && (
        <details className="small">
          <summary className="soft">{strings.settingsSent}</summary>
          <ScrollableText text={settings} />
        </details>
      )}
    </div>
  );
}

function describeTools(tools: readonly string[] | undefined, strings: BuilderStrings): string {
  if (tools === undefined) return strings.toolsAsBefore;
  return tools.length === 0 ? strings.noSelection : tools.join(', ');
}

function Part({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <div className="trace-part">
      <h3>
        {title}
        <CopyButton text={() => text} />
      </h3>
      <ScrollableText text={text} />
    </div>
  );
}

function ScrollableText({ text }: { readonly text: string }) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
  return <pre tabIndex={0}>{text}</pre>;
}

/** Bar at the time of the step within the run. Its part before the first output is lighter. The text next to it has the times. */
function TraceBar({ step, totalMs }: TraceStepProps) {
  const { from, length, waiting } = toSpan(step, totalMs);
  const kind = step.kind === 'model' ? 'model' : 'tool';
  return (
    <span className="trace-bar" aria-hidden="true">
      <span
        className={step.hasFailed ? `${kind} failed` : kind}
        style={{ insetInlineStart: `${from}%`, inlineSize: `${length}%` }}
      >
        <span style={{ inlineSize: `${waiting}%` }} />
      </span>
    </span>
  );
}
