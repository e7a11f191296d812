import { useEffect, useRef, useState } from 'react';
import { isJsonObject, type JsonObject, toObject, toText, tryParseJson } from '#base/json/json.ts';
import { SchemaForm } from '../../forms/schema-form.tsx';
import { CodeBlock } from '../../markdown/code-block.tsx';
import { ErrorMessage } from '../../parts/error-message.tsx';
import { Icon, TextButton } from '../../parts/icon.tsx';
import { readFirstMessage } from '../../service/complete-text.ts';
import { encodePath, type Service } from '../../service/service.ts';
import { type ErrorDetails, toErrorDetails } from '../../service/service-error.ts';
import { useBuilderStrings } from '../builder-strings.ts';
import { useFormatters } from '../test-chat/use-formatters.ts';
import './editors.css';

interface ToolTestProps {
  /** Name of the tool for screen readers. */
  readonly name: string;
  /** Whether to show the name, because the surrounding elements do not. */
  readonly shouldShowName?: boolean;
  /** JSON Schema of the arguments. */
  readonly schema: object;
  /** Whether the server declares the tool as read-only. */
  readonly isReadOnly?: boolean;
  readonly run: (args: JsonObject, signal: AbortSignal) => Promise<ToolResult>;
}

/** Runs one tool with the entered arguments and shows the result for the model. */
export function ToolTest({ name, shouldShowName = false, schema, isReadOnly = false, run }: ToolTestProps) {
  const strings = useBuilderStrings().toolTest;
  const { isRunning, result, error, run: start, stop } = useToolRun();
  return (
    <details className="tool-test">
      <summary className="quiet-link">
        <Icon name="pulse" />
        {shouldShowName ? strings.testTool(name) : strings.test}
        {!shouldShowName && <span className="visually-hidden">{name}</span>}
      </summary>
      <div className="tool-test-body">
        {!isReadOnly && <p className="soft small">{strings.hint}</p>}
        <SchemaForm schema={schema} submitLabel={strings.run} onSubmit={(args) => start((signal) => run(args, signal))} />
        {isRunning && (
          <div className="row">
            <span className="soft">{strings.running}</span>
            <TextButton className="button slim" onClick={stop}>
              {strings.stop}
            </TextButton>
          </div>
        )}
        <div role="status">{result !== undefined && <Outcome result={result} />}</div>
        <ErrorMessage error={error} />
        {result !== undefined && result.text !== '' && <ResultText text={result.text} />}
      </div>
    </details>
  );
}

function Outcome({ result: { outcome, durationMs, attachmentCount, reason } }: { readonly result: ToolResult }) {
  const { toolTest: strings, mcpTools } = useBuilderStrings();
  const { formatDuration } = useFormatters();
  const reasons: Readonly<Record<string, string>> = mcpTools.reasons;
  const time = formatDuration(durationMs);
  const descriptions = {
    answered: strings.answered(time),
    failed: strings.failed(time),
    not_run: strings.notRun,
    asks: strings.needsInput,
  };
  const isKnown = reason !== undefined && Object.hasOwn(reasons, reason);
  return (
    <p className={outcome === 'answered' ? 'tool-outcome' : 'tool-outcome failed'}>
      <Icon name={outcome === 'answered' ? 'check' : 'alert'} />
      {isKnown ? reasons[reason] : descriptions[outcome]} {attachmentCount > 0 && strings.files(attachmentCount)}
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

interface ToolRunState {
  readonly isRunning: boolean;
  readonly result: ToolResult | undefined;
  readonly error: ErrorDetails | undefined;
  readonly run: (work: (signal: AbortSignal) => Promise<ToolResult>) => void;
  readonly stop: () => void;
}

/** Runs at most one test at a time. Unmounting aborts it. */
function useToolRun(): ToolRunState {
  const [isRunning, setIsRunning] = useState(false);
  const [state, setState] = useState<Pick<ToolRunState, 'result' | 'error'>>({ result: undefined, error: undefined });
  const abortController = useRef<AbortController>(undefined);
  useEffect(() => () => abortController.current?.abort(), []);
  const run: ToolRunState['run'] = (work) => {
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

const outcomes = ['answered', 'failed', 'not_run', 'asks'] as const;

/** Result of a tool run. */
export interface ToolResult {
  readonly outcome: (typeof outcomes)[number];
  /** Text for the model. */
  readonly text: string;
  /** Number of files in the result. */
  readonly attachmentCount: number;
  readonly durationMs: number;
  /** `failure.reason` of the response if the server cannot be used (docs/quick-apps.md, MCP servers). */
  readonly reason?: string | undefined;
}

interface ToolRun {
  readonly toolset: JsonObject;
  readonly tool: string;
  readonly args: JsonObject;
  /** ID of the stored application, whose secrets replace the hidden ones. */
  readonly application: string | undefined;
}

/** Runs one tool of a toolset. Throws `ServiceError`. */
export async function runTool(
  service: Service,
  { toolset, tool, args, application }: ToolRun,
  signal: AbortSignal,
): Promise<ToolResult> {
  const body = { toolset, tool, arguments: args, ...(application !== undefined && { application }) };
  const answer = await service.json('v1/tools/run', { method: 'POST', body, signal });
  const { outcome, text, attachments, durationMs, failure } = toObject(answer);
  return {
    outcome: outcomes.find((item) => item === outcome) ?? 'failed',
    text: String(text ?? ''),
    attachmentCount: Array.isArray(attachments) ? attachments.length : 0,
    durationMs: Number(durationMs),
    reason: isJsonObject(failure) ? String(failure.reason) : undefined,
  };
}

/** Calls a deployment as an application would call it as a tool. Throws `ServiceError`. */
export async function runDeployment(service: Service, id: string, query: string, signal: AbortSignal): Promise<ToolResult> {
  const startMs = performance.now();
  const body = { messages: [{ role: 'user', content: query }] };
  const answer = await service.json(`openai/deployments/${encodePath(id)}/chat/completions`, { method: 'POST', body, signal });
  const message = readFirstMessage(answer);
  const custom = toObject(message.custom_content);
  return {
    outcome: 'answered',
    text: toText(message.content),
    attachmentCount: Array.isArray(custom.attachments) ? custom.attachments.length : 0,
    durationMs: performance.now() - startMs,
  };
}
