import { compilePattern, isPatternIn } from '#base/text/patterns.ts';
import type { Condition } from './conditions.ts';

/** A deployment as conditions look at it. */
export interface DescribedDeployment {
  readonly id: string;
  readonly displayName: string;
  readonly description: string;
  readonly isApplication: boolean;
}

/** Tells the deployments that meet every one of the conditions. Expressions run in linear time. */
export function meetConditions(conditions: readonly Condition[]): (deployment: DescribedDeployment) => boolean {
  const filters = conditions.map(toFilter);
  return (deployment) => filters.every((holds) => holds(deployment));
}

function toFilter(condition: Condition): (deployment: DescribedDeployment) => boolean {
  const { property_name: property } = condition;
  if (condition.condition_type === 'eq') return (deployment) => wordsOf(deployment, property).includes(condition.const);
  const pattern = compilePattern(condition.expression);
  return (deployment) => wordsOf(deployment, property).some((word) => isPatternIn(pattern, String(word)) === true);
}

/** What a property can be called: an application is "application", `true` and "true". */
function wordsOf(deployment: DescribedDeployment, property: Condition['property_name']): readonly (string | boolean)[] {
  const { id, displayName, description, isApplication } = deployment;
  switch (property) {
    case 'id':
      return [id];
    case 'display_name':
      return [displayName];
    case 'description':
      return [description];
    case 'application':
      return [isApplication ? 'application' : 'model', isApplication, String(isApplication)];
  }
}
