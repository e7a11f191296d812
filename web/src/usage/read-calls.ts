import { filterObjects, isJsonObject, type JsonObject, toObject, toText } from '#base/json/json.ts';
import type { Service } from '../service/service.ts';
import type { DayRange } from './day-range.tsx';
import type { Scope } from './read-usage.ts';

/** Outcomes of calls, as named by the service. */
export const outcomes = ['ok', 'refused', 'failed', 'left'] as const;
export type Outcome = (typeof outcomes)[number];

/** Filter for calls. Absent fields do not filter. */
export interface CallsFilter extends DayRange {
  readonly deployment?: string;
  readonly user?: string;
  readonly project?: string;
  readonly outcome?: Outcome;
  readonly requestId?: string;
  readonly status?: string;
}

/** Metadata of a call, without its content. */
export interface Call {
  readonly id: string;
  readonly atMs: number;
  readonly user: string;
  readonly project: string;
  readonly deployment: string;
  /** The calling application. '' for a direct call. */
  readonly calledBy: string;
  readonly outcome: Outcome;
  readonly status: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** USD. */
  readonly cost: number;
  readonly durationMs: number;
  readonly requestId: string;
}

interface CallsPage {
  readonly calls: readonly Call[];
  /** Token of the next page. Undefined after the last page. */
  readonly next: string | undefined;
}

interface CallsQuery {
  readonly scope: Scope;
  readonly filter: CallsFilter;
  readonly token?: string;
  readonly signal?: AbortSignal;
}

/** Loads one page of calls, the newest first. Throws `ServiceError`. */
export async function readCalls(service: Service, { scope, filter, token = '', signal }: CallsQuery): Promise<CallsPage> {
  const query = new URLSearchParams({ ...filter, limit: '50', token });
  const path = scope === 'all' ? 'v1/admin/calls' : 'v1/user/calls';
  const answer = await service.json(`${path}?${query}`, signal && { signal });
  const { data, nextToken } = toObject(answer);
  return { calls: filterObjects(data).map(toCall), next: toText(nextToken) || undefined };
}

function toCall(item: JsonObject): Call {
  const path = Array.isArray(item.path) ? item.path.map(String) : [];
  return {
    ...{
      id: String(item.id),
      atMs: Number(item.at),
      user: String(item.user),
      project: String(item.project),
      deployment: String(item.deployment),
    },
    calledBy: path.at(-2) ?? '',
    outcome: outcomes.find((outcome) => outcome === item.outcome) ?? 'failed',
    status: Number(item.status),
    ...{ promptTokens: Number(item.promptTokens), completionTokens: Number(item.completionTokens), cost: Number(item.cost) },
    ...{ durationMs: Number(item.durationMs), requestId: String(item.requestId) },
  };
}

/** A message of a call. `otherFields` is the JSON of all fields except the role and the text, or '' if there are none. */
export interface RecordedMessage {
  readonly role: string;
  readonly text: string;
  readonly otherFields: string;
}

/** Content of a call. */
export interface RecordedContent {
  readonly request: readonly RecordedMessage[];
  /** Undefined if no reply started. */
  readonly reply: readonly RecordedMessage[] | undefined;
  readonly isTruncated: boolean;
  /** The complete content as JSON. */
  readonly json: string;
}

/** Reads the content of a call. The audit log records this. Returns null if no content is stored. Throws `ServiceError`. */
export async function readContent(service: Service, id: string): Promise<RecordedContent | null> {
  const answer = await service.json(`v1/admin/calls/${encodeURIComponent(id)}`);
  const content = isJsonObject(answer) ? answer.content : undefined;
  if (!isJsonObject(content)) return null;
  const { request, reply } = content;
  const choices = isJsonObject(reply) && Array.isArray(reply.choices) ? reply.choices.filter(isJsonObject) : undefined;
  return {
    request: toMessages(isJsonObject(request) ? request.messages : undefined),
    reply: choices && toMessages(choices.map(({ message }) => message)),
    isTruncated: content.isTruncated === true,
    json: JSON.stringify({ request, reply }, null, 2),
  };
}

/** Converts the messages of a call. A text that replaces omitted messages becomes a message without a role. */
function toMessages(messages: unknown): readonly RecordedMessage[] {
  if (!Array.isArray(messages)) return [];
  return messages.map((message: unknown) => {
    if (!isJsonObject(message)) return { role: '', text: String(message), otherFields: '' };
    const { role, content, index: _index, ...fields } = message;
    const parts = Array.isArray(content) ? content : [];
    const texts = parts.flatMap((part) => (isJsonObject(part) && typeof part.text === 'string' ? [part.text] : []));
    const media = parts.filter((part) => !isJsonObject(part) || typeof part.text !== 'string');
    const remaining = { ...fields, ...(media.length > 0 && { content: media }) };
    return {
      role: String(role),
      text: typeof content === 'string' ? content : texts.join('\n\n'),
      otherFields: Object.keys(remaining).length === 0 ? '' : JSON.stringify(remaining, null, 2),
    };
  });
}
