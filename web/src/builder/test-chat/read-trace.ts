import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';

interface TraceMessage {
  readonly role: string;
  readonly text: string;
}

/** One call of the model or of a tool, a toolset that could not be had, or room that was made in a conversation, as the trace of a reply tells it. */
export interface TraceStep {
  readonly index: number;
  readonly isModel: boolean;
  /** Whether it is no call: what was too long was made to fit. */
  readonly isContextReduction: boolean;
  /** Whether it is no call: a toolset could not be had. */
  readonly isToolset: boolean;
  readonly turn: number;
  readonly name: string;
  readonly atMs: number;
  readonly durationMs: number;
  readonly firstMs: number | undefined;
  /** Of the model: messages that it had been sent before, the others, names of the tools offered (undefined: as before), and what else it was told. */
  readonly request: {
    readonly messagesBefore: number;
    readonly messages: readonly TraceMessage[];
    readonly tools: readonly string[] | undefined;
    readonly settings: string;
  };
  /** Whole, as it came. */
  readonly sent: string;
  /** As people read it. */
  readonly received: string;
  readonly error: string | undefined;
  readonly hasFailed: boolean;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly usd: number | undefined;
}

/** Whether a tool was called: by a turn of the model. */
export function isToolRun({ isModel, isContextReduction, isToolset }: TraceStep): boolean {
  return !(isModel || isContextReduction || isToolset);
}

/** The trace in what a reply brought beside its text (docs/quick-apps.md); nothing is taken on trust. */
export function readTrace(custom: unknown): readonly TraceStep[] {
  const trace = isJsonObject(custom) && Array.isArray(custom.trace) ? custom.trace : [];
  return trace.filter(isJsonObject).map(toStep);
}

function toStep(item: JsonObject, index: number): TraceStep {
  const [sent, received] = [toText(item.sent), toText(item.received)];
  const answer = tryParseJson(received);
  const isModel = item.kind === 'model';
  const isReadable = isJsonObject(answer) && item.kind !== 'context';
  const usage = Array.isArray(item.usage_per_model) ? item.usage_per_model.filter(isJsonObject) : [];
  const sum = (key: string): number => usage.reduce((total, entry) => total + toNumber(entry[key]), 0);
  return {
    index: index,
    isModel,
    isContextReduction: item.kind === 'context',
    isToolset: item.kind === 'toolset',
    turn: toNumber(item.turn),
    name: toText(item.name),
    atMs: toNumber(item.at_ms),
    durationMs: toNumber(item.duration_ms),
    firstMs: typeof item.first_ms === 'number' ? item.first_ms : undefined,
    request: toRequest(tryParseJson(sent)),
    sent,
    received: isReadable ? toAnswer(answer, isModel) : toReadable(received),
    error: typeof item.error === 'string' ? item.error : undefined,
    hasFailed: item.error !== undefined || (isJsonObject(answer) && answer.failed === true),
    promptTokens: sum('prompt_tokens'),
    completionTokens: sum('completion_tokens'),
    usd: typeof item.cost_usd === 'number' ? item.cost_usd : undefined,
  };
}

function toRequest(value: unknown): TraceStep['request'] {
  const { messages_before: before, messages, tools, ...settings } = isJsonObject(value) ? value : ({} as JsonObject);
  return {
    messagesBefore: toNumber(before),
    messages: Array.isArray(messages) ? messages.filter(isJsonObject).map(toMessage) : [],
    tools: Array.isArray(tools) ? tools.filter(isJsonObject).map(toToolName) : undefined,
    settings: Object.keys(settings).length === 0 ? '' : JSON.stringify(settings, undefined, 2),
  };
}

/** Its text, and as JSON what it has besides. */
function toMessage({ role, content, ...rest }: JsonObject): TraceMessage {
  const contentText = typeof content === 'string' ? content : content == null ? '' : JSON.stringify(content, undefined, 2);
  const restText = Object.keys(rest).length === 0 ? '' : JSON.stringify(rest, undefined, 2);
  return { role: toText(role), text: [contentText, restText].filter((part) => part !== '').join('\n\n') };
}

/** What a tool gave is a text, which may be JSON itself. */
function toAnswer(answer: JsonObject, isModel: boolean): string {
  if (isModel) return toMessage(answer).text;
  return toReadable(toText(answer.text) || toText(answer.question));
}

function toToolName({ function: definition }: JsonObject): string {
  return isJsonObject(definition) ? toText(definition.name) : '';
}

/** Texts of JSON as people read them; others as they are. */
export function toReadable(text: string): string {
  const value = tryParseJson(text);
  return value === undefined ? text : JSON.stringify(value, undefined, 2);
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function toNumber(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
