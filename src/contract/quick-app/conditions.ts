import { type Static, Type } from 'typebox';
import { fieldBounds, strict } from '../configuration/fields.ts';
import { conditionBounds, conditionProperties } from './condition-parts.ts';

const property = Type.Enum([...conditionProperties], {
  description: 'What of a deployment is looked at; `application` is whether it is an application rather than a model.',
});

const Equal = strict(
  {
    condition_type: Type.Literal('eq'),
    property_name: property,
    const: Type.Union([Type.String({ maxLength: fieldBounds.maxTextChars }), Type.Boolean()], {
      description: 'What it must be, exactly. For `application`: true or "application", false or "model".',
    }),
  },
  { description: 'Holds where the property is a given value.' },
);

const Match = strict(
  {
    condition_type: Type.Literal('match'),
    property_name: property,
    // quickAppFaults compiles all expressions of an application in one run, so that they share one time limit.
    expression: Type.String({
      maxLength: conditionBounds.maxExpressionChars,
      description: 'Regular expression in the syntax of RE2 that the property must match somewhere.',
    }),
  },
  { description: 'Holds where the property matches a regular expression.' },
);

/** One condition on deployments. */
export const Condition = Type.Union([Equal, Match], { description: 'A condition; `condition_type` picks the form.' });
export type Condition = Static<typeof Condition>;

/** All deployments that meet every one of some conditions. */
export const DeploymentConditions = strict(
  {
    conditions: Type.Array(Condition, {
      minItems: 1,
      maxItems: conditionBounds.maxPerEntry,
      description: 'Conditions that must all hold.',
    }),
  },
  { description: 'All deployments that meet every condition.' },
);
