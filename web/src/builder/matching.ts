import { isJsonObject } from '#base/json.ts';
import { isExpression } from '#contract/quick-app/condition-parts.ts';
import type { Condition } from '#contract/quick-app/conditions.ts';
import { meetConditions } from '#contract/quick-app/meet-conditions.ts';
import type { Deployment } from '../service/deployments.ts';

/** The deployments that meet every condition; undefined if there is none, or one is not whole yet. */
export function matching(conditions: readonly unknown[], deployments: readonly Deployment[]): readonly Deployment[] | undefined {
  if (conditions.length === 0 || !conditions.every(isWhole)) return undefined;
  const meets = meetConditions(conditions);
  return deployments.filter(({ name: displayName, ...deployment }) => meets({ ...deployment, displayName }));
}

/** Whether a condition of the form, which only writes known properties, is one that the service takes. */
function isWhole(condition: unknown): condition is Condition {
  if (!isJsonObject(condition)) return false;
  const { condition_type: type, const: wanted, expression } = condition;
  if (type === 'eq') return typeof wanted === 'string' || typeof wanted === 'boolean';
  return typeof expression === 'string' && isExpression(expression);
}
