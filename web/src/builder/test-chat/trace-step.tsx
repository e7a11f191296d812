import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useBuilderWords } from '../words/builder-words.ts';
import { isToolRun, type TraceStep, toReadable } from './read-trace.ts';
import { toSpan } from './trace-span.ts';
import { useAmounts } from './use-amounts.ts';

interface TraceStepProps {
  readonly step: TraceStep;
  /** How long the whole run took. */
  readonly wholeMs: number;
}

/** One call of the model or of a tool, or what was not to be had: a line with its time, and unfolded what went in and what came out. */
export function TraceStepView({ step, wholeMs }: TraceStepProps) {
  const words = useBuilderWords();
  const amounts = useAmounts();
  const facts = [amounts.time(step.durationMs), ...amounts.used([step]), ...(step.hasFailed ? [words.failed] : [])];
  return (
    <li className={isToolRun(step) ? 'trace-inner' : undefined}>
      <details className="trace-step">
        <summary>
          <Icon name="right" />
          <span className={`stage-dot ${step.hasFailed ? 'failed' : ''}`} aria-hidden="true" />
          <span className="trace-name">{titleOf(step, words)}</span>
          <span className="soft small">{facts.join(' · ')}</span>
          <TraceBar {...{ step, wholeMs }} />
        </summary>
        <div className="trace-parts">
          {step.isModel && <Asked step={step} />}
          {!step.isModel && !step.isToolset && (
            <Part title={step.isRoom ? words.roomBefore : words.toolArguments} text={toReadable(step.sent)} />
          )}
          {step.received !== '' && <Part title={resultOf(step, words)} text={step.received} />}
          {step.error !== undefined && <p className="trouble">{step.error}</p>}
          {step.firstMs !== undefined && <p className="soft small">{words.firstAfter(amounts.time(step.firstMs))}</p>}
        </div>
      </details>
    </li>
  );
}

type Words = ReturnType<typeof useBuilderWords>;

function titleOf({ isModel, isRoom, isToolset, turn, name }: TraceStep, words: Words): string {
  if (isRoom) return words.roomMade;
  if (isToolset) return words.toolsetMissing(name);
  return isModel ? words.modelTurn(turn, name) : words.toolRun(name);
}

function resultOf({ isModel, isRoom }: TraceStep, words: Words): string {
  if (isRoom) return words.roomAfter;
  return isModel ? words.modelReply : words.toolResult;
}

/** What the model was sent; what it had been sent before is only counted. */
function Asked({ step: { asked, sent } }: { readonly step: TraceStep }) {
  const words = useBuilderWords();
  const { messagesBefore, messages, tools, settings } = asked;
  // What was cut is no JSON any more.
  if (messages.length === 0 && messagesBefore === 0) return <Part title={words.messagesSent} text={sent} />;
  return (
    <div className="trace-part">
      <h3>
        {words.messagesSent}
        <CopyButton text={() => toReadable(sent)} />
      </h3>
      {messagesBefore > 0 && <p className="soft small">{words.messagesBefore(messagesBefore)}</p>}
      {messages.map(({ role, text }, nth) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the messages of one turn never move
        <div className="trace-message" key={nth}>
          <span className="tag">{role}</span>
          <Scrolled text={text} />
        </div>
      ))}
      <p className="small">
        <span className="soft">{words.toolsOffered}</span> {toolsInWords(tools, words)}
      </p>
      {settings !== '' && (
        <details className="small">
          <summary className="soft">{words.settingsSent}</summary>
          <Scrolled text={settings} />
        </details>
      )}
    </div>
  );
}

function toolsInWords(tools: readonly string[] | undefined, words: Words): string {
  if (tools === undefined) return words.toolsAsBefore;
  return tools.length === 0 ? words.noneChosen : tools.join(', ');
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
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard
  return <pre tabIndex={0}>{text}</pre>;
}

interface TraceBarProps {
  readonly step: TraceStep;
  /** How long the whole run took. */
  readonly wholeMs: number;
}

/** When a step was under way within the whole run; lighter until the first of its answer. The times stand beside it in words. */
function TraceBar({ step, wholeMs }: TraceBarProps) {
  const { from, length, waiting } = toSpan(step, wholeMs);
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
