import { useId, useState } from 'react';
import type { Turn } from '../../conversation/conversation.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useWords } from '../../words/words.tsx';
import { useBuilderWords } from '../words/builder-words.ts';
import { isToolRun, readTrace, type TraceStep } from './read-trace.ts';
import { wholeOf } from './trace-span.ts';
import { TraceStepView } from './trace-step.tsx';
import { useAmounts } from './use-amounts.ts';
import './trace.css';

const longestAnswerChars = 60;

/** How an answer of the chat came about: the last one, or the one that is chosen. */
export function TracePanel({ turns }: { readonly turns: readonly Turn[] }) {
  const words = useBuilderWords();
  const picker = useId();
  const replies = turns.filter((turn) => turn.kind === 'reply');
  const [chosen, setChosen] = useState('');
  const reply = replies.find(({ id }) => id === chosen) ?? replies.at(-1);
  if (reply === undefined) return null;
  const steps = readTrace(reply.custom);
  const wholeMs = wholeOf(steps);
  return (
    <details className="trace" open>
      <summary>
        <Icon name="right" />
        <h2>{words.trace}</h2>
        <TraceSum {...{ steps, wholeMs }} />
      </summary>
      <div className="trace-body">
        {replies.length > 1 && (
          <div className="row small">
            <label htmlFor={picker}>{words.traceOf}</label>
            <select id={picker} value={reply.id} onChange={({ target }) => setChosen(target.value)}>
              {replies.map(({ id, text }, nth) => (
                <option key={id} value={id}>
                  {words.answerNumber(nth + 1, text.slice(0, longestAnswerChars))}
                </option>
              ))}
            </select>
          </div>
        )}
        {steps.length === 0 && <p className="soft small">{reply.state === 'running' ? words.traceToCome : words.noTrace}</p>}
        <ol aria-label={words.trace}>
          {steps.map((step) => (
            <TraceStepView key={step.index} step={step} wholeMs={wholeMs} />
          ))}
        </ol>
        {steps.length > 0 && (
          <p className="row small soft">
            {words.copyTrace}
            <CopyButton label={words.copyTrace} text={() => JSON.stringify(reply.custom, undefined, 2)} />
          </p>
        )}
      </div>
    </details>
  );
}

interface TraceSumProps {
  readonly steps: readonly TraceStep[];
  readonly wholeMs: number;
}

/** The whole in a line. */
function TraceSum({ steps, wholeMs }: TraceSumProps) {
  const words = useBuilderWords();
  const { stagesFailed } = useWords();
  const amounts = useAmounts();
  if (steps.length === 0) return null;
  const turns = steps.filter(({ isModel }) => isModel).length;
  const tools = steps.filter(isToolRun).length;
  const failed = steps.filter(({ hasFailed }) => hasFailed).length;
  const parts = [words.turnCount(turns), words.toolCount(tools), amounts.time(wholeMs), ...amounts.used(steps)];
  return (
    <span className="soft small">
      {parts.filter((part) => part !== '').join(' · ')}
      {failed > 0 && <strong className="trace-failed"> · {stagesFailed(failed)}</strong>}
    </span>
  );
}
