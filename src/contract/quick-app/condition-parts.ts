import { compilePattern, PatternError } from '#base/text/patterns.ts';
import { expressionLimits } from './meet-conditions.ts';

/** What of a deployment a condition can look at. */
export const conditionProperties = ['id', 'display_name', 'description', 'application'] as const;

/** Returns whether a text is a regular expression in the syntax of RE2 within the bounds of a condition. */
export function isExpression(text: string): boolean {
  try {
    compilePattern(text, expressionLimits);
    return true;
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}
