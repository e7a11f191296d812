import { compilePattern, PatternError, type PatternLimits } from '#base/text/patterns.ts';

/** Properties of a deployment that a condition can check. */
export const conditionProperties = ['id', 'display_name', 'description', 'application'] as const;

/** Limits of the conditions of one quick app. */
export const conditionBounds = { maxConditions: 100, maxPerEntry: 20, maxExpressionChars: 1000 } as const;

/** Limits that allow an expression of plain letters with the maximum length. */
export const expressionLimits: PatternLimits = { maxSourceChars: conditionBounds.maxExpressionChars, maxProgramSize: 1100 };

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
