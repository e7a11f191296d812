import { filterObjects, isJsonObject, type JsonObject, toObject, toText, tryParseJson } from '#base/json/json.ts';

interface TraceMessage {
  readonly role: string;
  readonly text: string;
}

/** A step in the trace of a reply. */
export interface TraceStep {
  readonly index: number;
  /** A model call, a tool call, an unavailable toolset, or a context reduction. */
  readonly kind: 'model' | 'tool' | 'toolset' | 'context';
  readonly turn: number;
  readonly name: string;
  /** Time from the start of the run to the start of the step. */
  readonly atMs: number;
  readonly durationMs: number;
  /** Time from the start of the step to the first part of the answer. */
  readonly firstMs: number | undefined;
  /**
   * Model request: the number of messages sent before, the new messages, the names of the offered tools (undefined: unchanged),
   * and the settings.
   */
  readonly request: {
    readonly messagesBefore: number;
    readonly messages: readonly TraceMessage[];
    readonly tools: readonly string[] | undefined;
    readonly settings: string;
  };
  /** Request or arguments as the trace contains them. */
  readonly sent: string;
  /** Response or result, formatted for display. */
  readonly received: string;
  readonly error: string | undefined;
  readonly hasFailed: boolean;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly usd: number | undefined;
}

/** Parses the trace in the custom content of a reply (docs/quick-apps.md). Replaces invalid fields with defaults. */
export function readTrace(custom: unknown): readonly TraceStep[] {
  const trace = isJsonObject(custom) && Array.isArray(custom.trace) ? custom.trace : [];
  return trace.filter(isJsonObject).map(toStep);
}

function toStep(item: JsonObject, index: number): TraceStep {
  const [sent, received] = [toText(item.sent), toText(item.received)];
  const answer = tryParseJson(received);
  const kind = toKind(item.kind);
  const usage = filterObjects(item.usage_per_model);
  const sumUsage = (key: string): number => usage.reduce((total, entry) => total + toNumber(entry[key]), 0);
  return {
    index,
    kind,
    turn: toNumber(item.turn),
    name: toText(item.name),
    atMs: toNumber(item.at_ms),
    durationMs: toNumber(item.duration_ms),
    firstMs: typeof item.first_ms === 'number' ? item.first_ms : undefined,
    request: toRequest(tryParseJson(sent)),
    sent,
    received: isJsonObject(answer) && kind !== 'context' ? formatResult(answer, kind) : formatJson(received),
    error: typeof item.error === 'string' ? item.error : undefined,
    hasFailed: item.error !== undefined || (isJsonObject(answer) && answer.failed === true),
    promptTokens: sumUsage('prompt_tokens'),
    completionTokens: sumUsage('completion_tokens'),
    usd: typeof item.cost_usd === 'number' ? item.cost_usd : undefined,
  };
}

function toKind(kind: unknown): TraceStep['kind'] {
  return kind === 'model' || kind === 'toolset' || kind === 'context' ? kind : 'tool';
}

function toRequest(value: unknown): TraceStep['request'] {
  const { messages_before: before, messages, tools, ...settings } = toObject(value);
  return {
    messagesBefore: toNumber(before),
    messages: filterObjects(messages).map(toMessage),
    tools: Array.isArray(tools) ? tools.filter(isJsonObject).map(toToolName) : undefined,
    settings: Object.keys(settings).length === 0 ? '' : JSON.stringify(settings, undefined, 2),
  };
}

/** Formats the content as text, followed by the other fields as JSON. */
function toMessage({ role, content, ...otherFields }: JsonObject): TraceMessage {
  const contentText = typeof content === 'string' ? content : content == null ? '' : JSON.stringify(content, undefined, 2);
  const restText = Object.keys(otherFields).length === 0 ? '' : JSON.stringify(otherFields, undefined, 2);
  return { role: toText(role), text: [contentText, restText].filter((part) => part !== '').join('\n\n') };
}

/** Formats a model message or a tool result, whose text may be JSON. */
function formatResult(answer: JsonObject, kind: TraceStep['kind']): string {
  if (kind === 'model') return toMessage(answer).text;
  return formatJson(toText(answer.text) || toText(answer.question));
}

function toToolName({ function: definition }: JsonObject): string {
  return isJsonObject(definition) ? toText(definition.name) : '';
}

/** Indents a JSON text. Returns any other text unchanged. */
export function formatJson(text: string): string {
  const value = tryParseJson(text);
  return value === undefined ? text : JSON.stringify(value, undefined, 2);
}

function toNumber(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

type Timed = Pick<TraceStep, 'atMs' | 'durationMs' | 'firstMs'>;

interface Span {
  /** Start, as a percentage of the run. */
  readonly from: number;
  /** Duration, as a percentage of the run. */
  readonly length: number;
  /** Time to the first part of the answer, as a percentage of the span. */
  readonly waiting: number;
}

/** Returns the duration of a run in milliseconds, computed from its steps. */
export function computeTotalMs(steps: readonly Timed[]): number {
  return steps.reduce((end, { atMs, durationMs }) => Math.max(end, atMs + durationMs), 0);
}

/** Returns the position of a step within the run. Clamps invalid times to the run. */
export function toSpan({ atMs, durationMs, firstMs = 0 }: Timed, totalMs: number): Span {
  const from = computePercent(atMs, totalMs);
  return {
    from,
    length: Math.min(computePercent(durationMs, totalMs), 100 - from),
    waiting: computePercent(firstMs, durationMs),
  };
}

function computePercent(part: number, total: number): number {
  return total > 0 ? Math.min(100, Math.max(0, (part / total) * 100)) : 0;
}
