import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Service } from '../service/service.ts';
import type { DayRange } from './days.ts';
import type { Scope } from './read-usage.ts';

/** Outcomes of calls, as named by the service. */
export const outcomes = ['ok', 'refused', 'failed', 'left'] as const;
export type Outcome = (typeof outcomes)[number];

/** Filter for calls. Undefined fields do not filter. */
export interface CallsFilter extends DayRange {
  readonly deployment?: string;
  readonly user?: string;
  readonly project?: string;
  readonly outcome?: Outcome;
}

/** Metadata of a call, without its content. */
export interface Call {
  readonly id: string;
  readonly atMs: number;
  readonly user: string;
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

export interface CallsPage {
  readonly calls: readonly Call[];
  /** Token of the next page. Undefined after the last page. */
  readonly next: string | undefined;
}

interface CallsQuery {
  readonly scope: Scope;
  readonly of: CallsFilter;
  readonly token?: string;
  readonly signal?: AbortSignal;
}

/** Loads one page of calls, the newest first. Throws `ServiceError`. */
export async function readCalls(service: Service, { scope, of, token = '', signal }: CallsQuery): Promise<CallsPage> {
  const query = new URLSearchParams({ ...of, limit: '50', token });
  const path = scope === 'all' ? 'v1/admin/calls' : 'v1/user/calls';
  const answer = await service.json(`${path}?${query}`, signal && { signal });
  const { data, nextToken } = isJsonObject(answer) ? answer : {};
  return {
    calls: Array.isArray(data) ? data.filter(isJsonObject).map(toCall) : [],
    next: typeof nextToken === 'string' ? nextToken : undefined,
  };
}

function toCall(item: JsonObject): Call {
  const path = Array.isArray(item.path) ? item.path.map(String) : [];
  return {
    ...{ id: String(item.id), atMs: Number(item.at), user: String(item.user), deployment: String(item.deployment) },
    calledBy: path.at(-2) ?? '',
    outcome: outcomes.find((outcome) => outcome === item.outcome) ?? 'failed',
    status: Number(item.status),
    ...{ promptTokens: Number(item.promptTokens), completionTokens: Number(item.completionTokens), cost: Number(item.cost) },
    ...{ durationMs: Number(item.durationMs), requestId: String(item.requestId) },
  };
}
