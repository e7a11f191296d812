import { RE2JS } from 're2js';
import { isJsonObject } from '#base/json.ts';
import type { Deployment } from '../service/deployments.ts';

/** The deployments that meet every condition, as the service finds them; undefined where a condition is not whole yet. */
export function matching(conditions: readonly unknown[], deployments: readonly Deployment[]): readonly Deployment[] | undefined {
  const filters = conditions.map(toFilter);
  if (filters.length === 0 || filters.includes(undefined)) return undefined;
  return deployments.filter((deployment) => filters.every((holds) => holds?.(deployment) === true));
}

/** Whether a text is a regular expression of the service's syntax. */
export function isExpression(text: string): boolean {
  return compile(text) !== undefined;
}

function toFilter(condition: unknown): ((deployment: Deployment) => boolean) | undefined {
  if (!isJsonObject(condition)) return undefined;
  const property = String(condition.property_name);
  if (condition.condition_type === 'eq') {
    return (deployment) => wordsOf(deployment, property).some((word) => word === condition.const);
  }
  const expression = typeof condition.expression === 'string' ? compile(condition.expression) : undefined;
  return expression && ((deployment) => wordsOf(deployment, property).some((word) => expression.matcher(String(word)).find()));
}

/** What a property can be called: an application is `true`, "true" and "application". */
function wordsOf({ id, name, description, isApplication }: Deployment, property: string): readonly (string | boolean)[] {
  if (property === 'id') return [id];
  if (property === 'display_name') return [name];
  if (property === 'description') return [description];
  return [isApplication ? 'application' : 'model', isApplication, String(isApplication)];
}

function compile(text: string): RE2JS | undefined {
  try {
    return RE2JS.compile(text);
  } catch {
    return undefined;
  }
}
