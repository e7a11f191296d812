import { type JsonObject, tryParseJson } from '#base/json/json.ts';
import { SchemaForm } from '../../forms/schema-form.tsx';
import { CodeBlock } from '../../markdown/code-block.tsx';
import { ErrorMessage } from '../../parts/error-message.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useBuilderStrings } from '../strings/builder-strings.ts';
import { useAmounts } from '../test-chat/use-amounts.ts';
import type { ToolTrialResult } from './tool-trial.ts';
import './tool-test.css';
import { useEffect, useRef, useState } from 'react';
import { type ErrorDetails, toErrorDetails } from '../../service/service-error.ts';

interface ToolTestProps {
  /** Name of the tool for screen readers. */
  readonly name: string;
  /** Whether to show the name, because the surrounding elements do not. */
  readonly shouldShowName?: boolean;
  /** JSON Schema of the arguments. */
  readonly schema: object;
  /** Whether the server declares the tool read-only. */
  readonly isReadOnly?: boolean;
  readonly run: (args: JsonObject, signal: AbortSignal) => Promise<ToolTrialResult>;
}

/** Runs one tool with the entered arguments and shows the result for the model. */
export function ToolTest({ name, shouldShowName = false, schema, isReadOnly = false, run }: ToolTestProps) {
  const strings = useBuilderStrings().toolTest;
  const { isRunning, result, error, run: start, stop } = useTrial();
  return (
    <details className="tool-test">
      <summary className="quiet-link">
        <Icon name="pulse" />
        {shouldShowName ? strings.testTool(name) : strings.test}
        {!shouldShowName && <span className="heard-only">{name}</span>}
      </summary>
      <div className="tool-test-body">
        {!isReadOnly && <p className="soft small">{strings.hint}</p>}
        <SchemaForm schema={schema} submitLabel={strings.run} onSubmit={(args) => start((signal) => run(args, signal))} />
        {isRunning && (
          <div className="row">
            <span className="soft">{strings.running}</span>
            <button type="button" className="button slim" onClick={stop}>
              {strings.stop}
            </button>
          </div>
        )}
        <div role="status">{result !== undefined && <Outcome result={result} />}</div>
        <ErrorMessage error={error} />
        {result !== undefined && result.text !== '' && <ResultText text={result.text} />}
      </div>
    </details>
  );
}

function Outcome({ result: { outcome, durationMs, attachments, reason } }: { readonly result: ToolTrialResult }) {
  const { toolTest: strings, live } = useBuilderStrings();
  const { formatTime } = useAmounts();
  const reasons: Readonly<Record<string, string>> = live.reasons;
  const took = formatTime(durationMs);
  const descriptions = {
    answered: strings.answered(took),
    failed: strings.failed(took),
    not_run: strings.notRun,
    asks: strings.needsInput,
  };
  const isKnown = reason !== undefined && Object.hasOwn(reasons, reason);
  return (
    <p className={outcome === 'answered' ? 'tool-outcome' : 'tool-outcome bad'}>
      <Icon name={outcome === 'answered' ? 'check' : 'alert'} />
      {isKnown ? reasons[reason] : descriptions[outcome]} {attachments > 0 && strings.files(attachments)}
    </p>
  );
}

function ResultText({ text }: { readonly text: string }) {
  const strings = useBuilderStrings().toolTest;
  const value = tryParseJson(text);
  const isJson = typeof value === 'object' && value !== null;
  return (
    <>
      <p className="overline">{strings.modelSees}</p>
      <CodeBlock text={isJson ? JSON.stringify(value, null, 2) : text} language={isJson ? 'json' : ''} isComplete />
    </>
  );
}

interface Trial {
  readonly isRunning: boolean;
  readonly result: ToolTrialResult | undefined;
  readonly error: ErrorDetails | undefined;
  readonly run: (work: (signal: AbortSignal) => Promise<ToolTrialResult>) => void;
  readonly stop: () => void;
}

/** Runs at most one test at a time. Unmounting aborts it. */
function useTrial(): Trial {
  const [isRunning, setIsRunning] = useState(false);
  const [state, setState] = useState<Pick<Trial, 'result' | 'error'>>({ result: undefined, error: undefined });
  const abortController = useRef<AbortController>(undefined);
  useEffect(() => () => abortController.current?.abort(), []);
  const run: Trial['run'] = (work) => {
    abortController.current?.abort();
    const controller = new AbortController();
    abortController.current = controller;
    const onResult = (next: typeof state): void => {
      if (controller.signal.aborted) return;
      setState(next);
      setIsRunning(false);
    };
    setIsRunning(true);
    setState({ result: undefined, error: undefined });
    work(controller.signal).then(
      (result) => onResult({ result, error: undefined }),
      (error: unknown) => onResult({ result: undefined, error: toErrorDetails(error) }),
    );
  };
  const stop = (): void => {
    abortController.current?.abort();
    setIsRunning(false);
  };
  return { ...state, isRunning, run, stop };
}
