import { RE2JS } from 're2js';

/** What of a deployment a condition can look at. */
export const conditionProperties = ['id', 'display_name', 'description', 'application'] as const;

/** Whether a text is a regular expression in the syntax of RE2. */
export function isExpression(text: string): boolean {
  try {
    RE2JS.compile(text);
    return true;
  } catch {
    return false;
  }
}
