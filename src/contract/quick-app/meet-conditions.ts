import { type PatternRun, withPatterns } from '#base/text/patterns.ts';
import { expressionLimits } from './condition-parts.ts';
import type { Condition } from './conditions.ts';

/** A deployment with the properties that conditions can check. */
export interface DescribedDeployment {
  readonly id: string;
  readonly displayName: string;
  readonly description: string;
  readonly isApplication: boolean;
}

/** Returns whether a deployment meets compiled conditions. Throws `PatternError`. */
export type MeetsConditions = (deployment: DescribedDeployment, patterns: PatternRun) => boolean;

/** Compiles conditions. A deployment must meet all of them. Throws `PatternError`. */
export function compileConditions(conditions: readonly Condition[], { compile }: PatternRun): MeetsConditions {
  const filters = conditions.map((condition) => compileCondition(condition, compile));
  return (deployment, patterns) => filters.every((meets) => meets(deployment, patterns));
}

/**
 * Returns a function that tests whether a deployment meets all conditions. Both functions throw `PatternError`. This function
 * is for the page. The service uses `compileConditions`, so that it compiles conditions only once.
 */
export function createConditionMatcher(conditions: readonly Condition[]): (deployment: DescribedDeployment) => boolean {
  const meets = withPatterns((patterns) => compileConditions(conditions, patterns));
  return (deployment) => withPatterns((patterns) => meets(deployment, patterns));
}

function compileCondition(condition: Condition, compile: PatternRun['compile']): MeetsConditions {
  const { property_name: property } = condition;
  if (condition.condition_type === 'eq') return (deployment) => listValues(deployment, property).includes(condition.const);
  const pattern = compile(condition.expression, expressionLimits);
  return (deployment, { isFound }) => listValues(deployment, property).some((value) => isFound(pattern, String(value)));
}

/** Returns the values that a property equals in conditions. `application` has three, such as "application", `true`, and "true". */
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
