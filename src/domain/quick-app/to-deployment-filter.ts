import { RE2JS } from 're2js';
import type { Condition } from '#contract/quick-app/conditions.ts';
import type { Deployment } from '../deployments/deployment.ts';

/** Tells the deployments that meet every one of the conditions. Expressions run in linear time. */
export function toDeploymentFilter(conditions: readonly Condition[]): (deployment: Deployment) => boolean {
  const filters = conditions.map(toFilter);
  return (deployment) => filters.every((holds) => holds(deployment));
}

function toFilter(condition: Condition): (deployment: Deployment) => boolean {
  const { property_name: property } = condition;
  if (condition.condition_type === 'eq') return (deployment) => wordsOf(deployment, property).includes(condition.const);
  const expression = RE2JS.compile(condition.expression);
  return (deployment) => wordsOf(deployment, property).some((word) => expression.matcher(String(word)).find());
}

/** What a property can be called: an application is `true`, "true" and "application" (contract: points read two ways). */
function wordsOf(deployment: Deployment, property: Condition['property_name']): readonly (string | boolean)[] {
  const { id, kind, displayName = id, description = '' } = deployment;
  const isApplication = kind === 'application';
  switch (property) {
    case 'id':
      return [id];
    case 'display_name':
      return [displayName];
    case 'description':
      return [description];
    case 'application':
      return [kind, isApplication, String(isApplication)];
  }
}
