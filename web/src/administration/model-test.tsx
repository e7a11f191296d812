import { useEffect, useRef, useState } from 'react';
import { filterObjects, toObject, toText } from '#base/json/json.ts';
import { readFirstMessage } from '../service/complete-text.ts';
import { encodePath, type Service } from '../service/service.ts';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { usePage } from '../shell/page.tsx';
import { describeAnswerError } from '../strings/describe-error.ts';
import { formatSeconds } from '../strings/formats.ts';
import { useLanguage } from '../strings/strings.tsx';
import { useAdminStrings } from './admin-strings.ts';
import type { Entry } from './entries.ts';

const maxWaitMs = 60_000;
const maxAnswerChars = 300;

interface TestResult {
  readonly durationMs: number;
  /** '' if the reply has no text. */
  readonly answer: string;
  readonly vectorLength?: number;
  readonly error?: ErrorDetails;
}

/** A button that calls a model or an application once, and shows the answer or the error with the duration. */
export function ModelTest({ entry: { id, value } }: { readonly entry: Pick<Entry, 'id' | 'value'> }) {
  const strings = useAdminStrings();
  const { service } = usePage();
  const [result, setResult] = useState<TestResult>();
  const [isRunning, setIsRunning] = useState(false);
  const controller = useRef(new AbortController());
  useEffect(() => () => controller.current.abort(), []);
  const run = (): void => {
    if (isRunning) return;
    controller.current = new AbortController();
    const signal = AbortSignal.any([controller.current.signal, AbortSignal.timeout(maxWaitMs)]);
    const settle = (next: TestResult): void => {
      if (controller.current.signal.aborted) return;
      setResult(next);
      setIsRunning(false);
    };
    setIsRunning(true);
    setResult(undefined);
    void callOnce(service, { id, isEmbedding: value.type === 'embedding', signal }).then(settle);
  };
  return (
    <div className="model-test">
      <button
        {...{ type: 'button', className: 'button slim', 'aria-disabled': isRunning, 'aria-label': strings.testNamed(id) }}
        onClick={run}
      >
        {isRunning ? strings.testing : strings.test}
      </button>
      <div role="status">{result !== undefined && <Result result={result} />}</div>
    </div>
  );
}

function Result({ result: { durationMs, answer, vectorLength, error } }: { readonly result: TestResult }) {
  const strings = useAdminStrings();
  const { strings: pageStrings, locale } = useLanguage();
  const duration = formatSeconds(durationMs, locale);
  if (error !== undefined) {
    return (
      <div className="test-result">
        <p className="verdict bad">{strings.testFailed(duration)}</p>
        <p className="small">{describeAnswerError(error, pageStrings)}</p>
        <p className="soft small">
          {error.message} <code>{error.code}</code>
        </p>
      </div>
    );
  }
  return (
    <div className="test-result">
      <p className="verdict good">{strings.testPassed(duration)}</p>
      <p className="small">{vectorLength === undefined ? answer : strings.vectorLength(vectorLength.toLocaleString(locale))}</p>
    </div>
  );
}

interface TestCall {
  readonly id: string;
  readonly isEmbedding: boolean;
  readonly signal: AbortSignal;
}

/** Calls a deployment. An error is a result, so the promise never rejects. */
async function callOnce(service: Service, { id, isEmbedding, signal }: TestCall): Promise<TestResult> {
  const startedAtMs = performance.now();
  const base = `openai/deployments/${encodePath(id)}`;
  const [path, body] = isEmbedding
    ? [`${base}/embeddings`, { input: 'Hello' }]
    : [`${base}/chat/completions`, { messages: [{ role: 'user', content: 'Say hello in one short sentence.' }] }];
  try {
    const response = await service.json(path, { method: 'POST', body, signal });
    return { durationMs: performance.now() - startedAtMs, ...readAnswer(response) };
  } catch (error) {
    return { durationMs: performance.now() - startedAtMs, answer: '', error: toErrorDetails(error) };
  }
}

function readAnswer(response: unknown): Pick<TestResult, 'answer' | 'vectorLength'> {
  const [data] = filterObjects(toObject(response).data);
  const vector = data?.embedding;
  if (vector !== undefined) return { answer: '', vectorLength: Array.isArray(vector) ? vector.length : 0 };
  const text = toText(readFirstMessage(response).content);
  return { answer: text.length > maxAnswerChars ? `${text.slice(0, maxAnswerChars)}…` : text };
}
