import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useBuilderStrings } from '../builder-strings.ts';
import { isToolRun, type TraceStep, toReadable, toSpan } from './read-trace.ts';
import { useAmounts } from './use-amounts.ts';

interface TraceStepProps {
  readonly step: TraceStep;
  /** Duration of the complete run. */
  readonly totalMs: number;
}

/** A step as a line with its time. Unfolded, it shows its input and output. */
export function TraceStepView({ step, totalMs }: TraceStepProps) {
  const strings = useBuilderStrings();
  const amounts = useAmounts();
  const facts = [amounts.formatTime(step.durationMs), ...amounts.listUsage([step]), ...(step.hasFailed ? [strings.failed] : [])];
  return (
    <li className={isToolRun(step) ? 'trace-inner' : undefined}>
      <details className="trace-step">
        <summary>
          <Icon name="right" />
          <span className={`stage-dot ${step.hasFailed ? 'failed' : ''}`} aria-hidden="true" />
          <span className="trace-name">{getTitle(step, strings)}</span>
          <span className="soft small">{facts.join(' · ')}</span>
          <TraceBar {...{ step, totalMs }} />
        </summary>
        <div className="trace-parts">
          {step.isModel && <RequestPart step={step} />}
          {!step.isModel && !step.isToolset && (
            <Part title={step.isContextReduction ? strings.contextBefore : strings.toolArguments} text={toReadable(step.sent)} />
          )}
          {step.received !== '' && <Part title={getResultTitle(step, strings)} text={step.received} />}
          {step.error !== undefined && <p className="trouble">{step.error}</p>}
          {step.firstMs !== undefined && <p className="soft small">{strings.firstAfter(amounts.formatTime(step.firstMs))}</p>}
        </div>
      </details>
    </li>
  );
}

type Strings = ReturnType<typeof useBuilderStrings>;

function getTitle({ isModel, isContextReduction, isToolset, turn, name }: TraceStep, strings: Strings): string {
  if (isContextReduction) return strings.contextReduced;
  if (isToolset) return strings.toolsetMissing(name);
  return isModel ? strings.modelTurn(turn, name) : strings.toolRun(name);
}

function getResultTitle({ isModel, isContextReduction }: TraceStep, strings: Strings): string {
  if (isContextReduction) return strings.contextAfter;
  return isModel ? strings.modelReply : strings.toolResult;
}

/** The messages sent to the model. Earlier messages are only counted. */
function RequestPart({ step: { request, sent } }: { readonly step: TraceStep }) {
  const strings = useBuilderStrings();
  const { messagesBefore, messages, tools, settings } = request;
  // Truncated text is not valid JSON.
  if (messages.length === 0 && messagesBefore === 0) return <Part title={strings.messagesSent} text={sent} />;
  return (
    <div className="trace-part">
      <h3>
        {strings.messagesSent}
        <CopyButton text={() => toReadable(sent)} />
      </h3>
      {messagesBefore > 0 && <p className="soft small">{strings.messagesBefore(messagesBefore)}</p>}
      {messages.map(({ role, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the messages of one turn never move
        <div className="trace-message" key={index}>
          <span className="tag">{role}</span>
          <Scrolled text={text} />
        </div>
      ))}
      <p className="small">
        <span className="soft">{strings.toolsOffered}</span> {describeTools(tools, strings)}
      </p>
      {settings !== '' && (
        <details className="small">
          <summary className="soft">{strings.settingsSent}</summary>
          <Scrolled text={settings} />
        </details>
      )}
    </div>
  );
}

function describeTools(tools: readonly string[] | undefined, strings: Strings): string {
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
      <Scrolled text={text} />
    </div>
  );
}

function Scrolled({ text }: { readonly text: string }) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
  return <pre tabIndex={0}>{text}</pre>;
}

interface TraceBarProps {
  readonly step: TraceStep;
  /** Duration of the complete run. */
  readonly totalMs: number;
}

/** Time of the step within the run, lighter until the first part of the answer. The text next to it states the times. */
function TraceBar({ step, totalMs }: TraceBarProps) {
  const { from, length, waiting } = toSpan(step, totalMs);
  const kind = step.isModel ? 'model' : 'tool';
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
