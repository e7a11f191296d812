import { filterObjects, type JsonObject, toObject, toText } from '#base/json/json.ts';
import type { Service } from '../service/service.ts';
import type { DayRange } from './day-range.tsx';

/** Sums of several calls. */
export interface Amounts {
  readonly calls: number;
  readonly failedCalls: number;
  /** Rejected calls, for example because of a limit. */
  readonly refusedCalls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** USD. */
  readonly cost: number;
}

export interface UsageRow extends Amounts {
  /** Day of the sums. Each field from here on is '' if the query does not group by it. */
  readonly day: string;
  readonly deployment: string;
  readonly user: string;
  readonly project: string;
}

export interface Usage {
  readonly rows: readonly UsageRow[];
  readonly total: Amounts;
  /** Whether the limit of the query omitted rows. */
  readonly isTruncated: boolean;
}

/** Usage of the signed-in user or of all users. Only administrators and auditors may load the usage of all users. */
export type Scope = 'own' | 'all';

export interface UsageQuery extends DayRange {
  readonly scope: Scope;
  readonly by: readonly ('day' | 'deployment' | 'user' | 'project')[];
  readonly limit: number;
  /** Whether sums by deployment omit the calls of applications, so that they add up to the total. */
  readonly isDirect?: boolean;
  readonly signal?: AbortSignal;
}

/** Loads usage sums. Throws `ServiceError`. */
export async function readUsage(service: Service, { scope, from, to, by, limit, isDirect, signal }: UsageQuery): Promise<Usage> {
  const query = new URLSearchParams({ from, to, by: by.join(','), limit: String(limit), direct: String(isDirect === true) });
  const path = scope === 'all' ? 'v1/admin/usage' : 'v1/user/usage';
  const answer = await service.json(`${path}?${query}`, signal && { signal });
  const body = toObject(answer);
  const rows = filterObjects(body.data).map(toRow);
  return { rows, total: toAmounts(toObject(body.total)), isTruncated: body.isCut === true };
}

function toRow(item: JsonObject): UsageRow {
  const { day, deployment, user, project } = item;
  const names = { day: toText(day), deployment: toText(deployment), user: toText(user), project: toText(project) };
  return { ...toAmounts(item), ...names };
}

function toAmounts(item: JsonObject): Amounts {
  const toAmount = (value: unknown): number => (typeof value === 'number' ? value : 0);
  return {
    calls: toAmount(item.calls),
    failedCalls: toAmount(item.failedCalls),
    refusedCalls: toAmount(item.refusedCalls),
    promptTokens: toAmount(item.promptTokens),
    completionTokens: toAmount(item.completionTokens),
    cost: toAmount(item.cost),
  };
}
