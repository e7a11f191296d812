import { type JsonObject, tryParseJson } from '#base/json/json.ts';
import { SchemaForm } from '../../forms/schema-form.tsx';
import { CodeBlock } from '../../markdown/code-block.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { useAmounts } from '../test-chat/use-amounts.ts';
import { useBuilderWords } from '../words/builder-words.ts';
import type { TriedTool } from './tool-trial.ts';
import './tool-test.css';
import { useEffect, useRef, useState } from 'react';
import { type Fault, faultOf } from '../../service/fault.ts';

interface ToolTestProps {
  /** Of the tool, for those who listen. */
  readonly name: string;
  /** Nothing around it names it. */
  readonly isNameShown?: boolean;
  /** JSON Schema of what it takes. */
  readonly schema: object;
  /** The server says that it changes nothing. */
  readonly isReadOnly?: boolean;
  readonly run: (args: JsonObject, signal: AbortSignal) => Promise<TriedTool>;
}

/** Runs one tool with what is filled in, and shows what a model would be told. */
export function ToolTest({ name, isNameShown = false, schema, isReadOnly = false, run }: ToolTestProps) {
  const words = useBuilderWords().trial;
  const { isRunning, tried, fault, run: start, stop } = useTrial();
  return (
    <details className="tool-test">
      <summary className="quiet-link">
        <Icon name="pulse" />
        {isNameShown ? words.testOf(name) : words.test}
        {!isNameShown && <span className="heard-only">{name}</span>}
      </summary>
      <div className="tool-test-body">
        {!isReadOnly && <p className="soft small">{words.hint}</p>}
        <SchemaForm schema={schema} submitWord={words.run} onSubmit={(args) => start((signal) => run(args, signal))} />
        {isRunning && (
          <div className="row">
            <span className="soft">{words.running}</span>
            <button type="button" className="button slim" onClick={stop}>
              {words.stop}
            </button>
          </div>
        )}
        <div role="status">{tried !== undefined && <Outcome tried={tried} />}</div>
        <Trouble fault={fault} />
        {tried !== undefined && tried.text !== '' && <Told text={tried.text} />}
      </div>
    </details>
  );
}

function Outcome({ tried: { outcome, durationMs, attachments, reason } }: { readonly tried: TriedTool }) {
  const { trial: words, live } = useBuilderWords();
  const { time } = useAmounts();
  const reasons: Readonly<Record<string, string>> = live.reasons;
  const took = time(durationMs);
  const said = { answered: words.answered(took), failed: words.failed(took), not_run: words.notRun, asks: words.asks };
  const isKnown = reason !== undefined && Object.hasOwn(reasons, reason);
  return (
    <p className={outcome === 'answered' ? 'tool-outcome' : 'tool-outcome bad'}>
      <Icon name={outcome === 'answered' ? 'check' : 'alert'} />
      {isKnown ? reasons[reason] : said[outcome]} {attachments > 0 && words.files(attachments)}
    </p>
  );
}

function Told({ text }: { readonly text: string }) {
  const words = useBuilderWords().trial;
  const value = tryParseJson(text);
  const isJson = typeof value === 'object' && value !== null;
  return (
    <>
      <p className="overline">{words.told}</p>
      <CodeBlock text={isJson ? JSON.stringify(value, null, 2) : text} language={isJson ? 'json' : ''} isWhole />
    </>
  );
}

interface Trial {
  readonly isRunning: boolean;
  readonly tried: TriedTool | undefined;
  readonly fault: Fault | undefined;
  readonly run: (work: (signal: AbortSignal) => Promise<TriedTool>) => void;
  readonly stop: () => void;
}

/** One run at a time; leaving ends it. */
function useTrial(): Trial {
  const [isRunning, setIsRunning] = useState(false);
  const [told, setTold] = useState<Pick<Trial, 'tried' | 'fault'>>({ tried: undefined, fault: undefined });
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const run: Trial['run'] = (work) => {
    leaving.current?.abort();
    const controller = new AbortController();
    leaving.current = controller;
    const tell = (next: typeof told): void => {
      if (controller.signal.aborted) return;
      setTold(next);
      setIsRunning(false);
    };
    setIsRunning(true);
    setTold({ tried: undefined, fault: undefined });
    work(controller.signal).then(
      (tried) => tell({ tried, fault: undefined }),
      (thrown: unknown) => tell({ tried: undefined, fault: faultOf(thrown) }),
    );
  };
  const stop = (): void => {
    leaving.current?.abort();
    setIsRunning(false);
  };
  return { ...told, isRunning, run, stop };
}
