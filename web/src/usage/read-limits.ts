import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { encodePath, type Service } from '../service/service.ts';

export type LimitKind = 'Token' | 'Request' | 'Cost' | 'Call';
export type Period = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'parallel';

/** Status of a limit. */
export interface LimitStatus {
  readonly kind: LimitKind;
  readonly period: Period;
  /** Tokens, requests, USD, or calls in progress. */
  readonly total: number;
  readonly used: number;
  /** Undefined for calls in progress. */
  readonly resetsAtMs: number | undefined;
}

export interface OwnLimits {
  /** Cost limits of all deployments together. */
  readonly cost: readonly LimitStatus[];
  /** Limits of single deployments, sorted by the highest used fraction. Deployments without limits are omitted. */
  readonly deployments: readonly { readonly id: string; readonly name: string; readonly statuses: readonly LimitStatus[] }[];
}

const maxConcurrent = 8;

/** Loads the user's limits and their status. Throws `ServiceError`. */
export async function readLimits(service: Service, signal: AbortSignal): Promise<OwnLimits> {
  const remaining = await listDeployments(service, signal);
  const results: (OwnLimits['deployments'][number] & { readonly cost: readonly LimitStatus[] })[] = [];
  const loadLimits = async (): Promise<void> => {
    for (let next = remaining.shift(); next !== undefined; next = remaining.shift()) {
      const all = toStatuses(await service.json(`v1/deployments/${encodePath(next.id)}/limits`, { signal }));
      const isCost = ({ kind }: LimitStatus): boolean => kind === 'Cost';
      results.push({ ...next, statuses: all.filter((status) => !isCost(status)), cost: all.filter(isCost) });
    }
  };
  await Promise.all(Array.from({ length: maxConcurrent }, loadLimits));
  const limited = results.filter(({ statuses }) => statuses.length > 0);
  return {
    cost: results.find(({ cost }) => cost.length > 0)?.cost ?? [],
    deployments: limited.sort(
      (left, right) => computeMaxUsage(right) - computeMaxUsage(left) || left.name.localeCompare(right.name),
    ),
  };
}

async function listDeployments(service: Service, signal: AbortSignal): Promise<{ id: string; name: string }[]> {
  const answer = await service.json('openai/deployments', { signal });
  const items = isJsonObject(answer) && Array.isArray(answer.data) ? answer.data.filter(isJsonObject) : [];
  return items.map(({ id, display_name: name }) => ({ id: String(id), name: typeof name === 'string' ? name : String(id) }));
}

function toStatuses(answer: unknown): readonly LimitStatus[] {
  if (!isJsonObject(answer)) return [];
  return Object.entries(answer).flatMap(([name, stats]) => {
    const [, period, kind] = /^(minute|hour|day|week|month|parallel)(Token|Request|Cost|Call)Stats$/.exec(name) ?? [];
    if (period === undefined || !isJsonObject(stats) || typeof stats.total !== 'number') return [];
    return [{ kind: kind as LimitKind, period: period as Period, total: stats.total, ...toNumbers(stats) }];
  });
}

function toNumbers({ used, resetsAt }: JsonObject): Pick<LimitStatus, 'used' | 'resetsAtMs'> {
  return { used: Number(used), resetsAtMs: typeof resetsAt === 'number' ? resetsAt : undefined };
}

function computeMaxUsage({ statuses }: { readonly statuses: readonly LimitStatus[] }): number {
  return Math.max(...statuses.map(({ used, total }) => used / total));
}
