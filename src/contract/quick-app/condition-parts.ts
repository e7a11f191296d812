import { RE2JS } from 're2js';

/** What of a deployment a condition can look at. */
export const conditionProperties = ['id', 'display_name', 'description', 'application'] as const;

/** Classes in classes take long to be put together. */
const longestExpression = 1000;

/** Whether a text is a regular expression in the syntax of RE2, and short enough to be compiled in a moment. */
export function isExpression(text: string): boolean {
  if (text.length > longestExpression) return false;
  try {
    RE2JS.compile(text);
    return true;
  } catch {
    return false;
  }
}
