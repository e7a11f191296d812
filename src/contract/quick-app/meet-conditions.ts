import { type Pattern, type PatternRun, withPatterns } from '#base/text/patterns.ts';
import { expressionLimits } from './condition-parts.ts';
import type { Condition } from './conditions.ts';

/** A deployment as conditions look at it. */
export interface DescribedDeployment {
  readonly id: string;
  readonly displayName: string;
  readonly description: string;
  readonly isApplication: boolean;
}

/** Returns whether a deployment meets conditions that were compiled before. Throws `PatternError`. */
export type MeetsConditions = (deployment: DescribedDeployment, patterns: PatternRun) => boolean;

/** Compiles conditions that must all hold. Throws `PatternError`. */
export function compileConditions(conditions: readonly Condition[], { compile }: PatternRun): MeetsConditions {
  const filters = conditions.map((condition) => {
    const pattern = condition.condition_type === 'match' ? compile(condition.expression, expressionLimits) : undefined;
    return toFilter(condition, pattern);
  });
  return (deployment, patterns) => filters.every((holds) => holds(deployment, patterns));
}

/** Returns which deployments meet all of the conditions. Throws `PatternError`. For the page: the service compiles conditions once. */
export function meetConditions(conditions: readonly Condition[]): (deployment: DescribedDeployment) => boolean {
  const meets = withPatterns((patterns) => compileConditions(conditions, patterns));
  return (deployment) => withPatterns((patterns) => meets(deployment, patterns));
}

function toFilter(condition: Condition, pattern: Pattern | undefined): MeetsConditions {
  const { property_name: property } = condition;
  if (condition.condition_type === 'eq') return (deployment) => listValues(deployment, property).includes(condition.const);
  return (deployment, { isFound }) =>
    listValues(deployment, property).some((word) => pattern !== undefined && isFound(pattern, String(word)));
}

/** What a property can be called: an application is "application", `true` and "true". */
function listValues(deployment: DescribedDeployment, property: Condition['property_name']): readonly (string | boolean)[] {
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
