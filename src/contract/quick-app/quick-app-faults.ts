import { Compile } from 'typebox/compile';
import { PatternError, withPatterns } from '#base/text/patterns.ts';
import { complete } from '../configuration/complete.ts';
import { explain } from '../configuration/explain.ts';
import type { Fault } from '../configuration/fault.ts';
import { conditionBounds, expressionLimits } from './condition-parts.ts';
import { QuickAppForm } from './form.ts';

const schema = Compile(QuickAppForm);

/** Everything that is wrong with the settings of a quick app, as written. */
export function quickAppFaults(properties: unknown): readonly Fault[] {
  const completed = complete(QuickAppForm, properties);
  return schema.Check(completed) ? conditionFaults(completed) : explain(QuickAppForm, completed);
}

/** Counts and compiles the conditions of all entries, within the time limit of one run. */
function conditionFaults({ applications_as_tools: entries = [] }: QuickAppForm): readonly Fault[] {
  const path: (string | number)[] = ['applications_as_tools'];
  const conditions = entries.flatMap((entry) => (typeof entry === 'string' ? [] : entry.conditions));
  if (conditions.length > conditionBounds.maxConditions)
    return [{ path, message: `must have at most ${conditionBounds.maxConditions} conditions in total` }];
  if (conditions.length === 0) return [];
  try {
    withPatterns(({ compile }) => {
      for (const [nth, entry] of entries.entries()) {
        for (const [at, condition] of typeof entry === 'string' ? [] : entry.conditions.entries()) {
          if (condition.condition_type !== 'match') continue;
          path.splice(1, 4, nth, 'conditions', at, 'expression');
          compile(condition.expression, expressionLimits);
        }
      }
    });
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const message = 'must be a regular expression in the syntax of RE2, which has no look-around and no back-references';
    return [{ path, message: `${message}: ${error.message}` }];
  }
  return [];
}

/** The settings of a quick app with every default put in; to be given what has no faults. */
export function completeQuickApp(properties: unknown): QuickAppForm {
  return complete(QuickAppForm, properties) as QuickAppForm;
}
