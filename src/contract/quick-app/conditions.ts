import { type Static, Type } from 'typebox';
import { fieldBounds, strict } from '../configuration/fields.ts';
import { conditionBounds, conditionProperties } from './condition-parts.ts';

const property = Type.Enum([...conditionProperties], {
  description: 'Property of a deployment. `application` is whether it is an application, not a model.',
});

const Equal = strict(
  {
    condition_type: Type.Literal('eq'),
    property_name: property,
    const: Type.Union([Type.String({ maxLength: fieldBounds.maxTextChars }), Type.Boolean()], {
      description: 'The exact value. For `application`, true and "application" are equal, as are false and "model".',
    }),
  },
  { description: 'True if the property has this value.' },
);

const Match = strict(
  {
    condition_type: Type.Literal('match'),
    property_name: property,
    // `findQuickAppIssues` compiles all expressions of an application in one run, so that they share one time limit.
    expression: Type.String({
      maxLength: conditionBounds.maxExpressionChars,
      description: 'Regular expression (RE2) that must match a part of the property.',
    }),
  },
  { description: 'True if the property matches a regular expression.' },
);

/** A condition on deployments. */
export const Condition = Type.Union([Equal, Match], { description: 'A condition. `condition_type` selects the form.' });
export type Condition = Static<typeof Condition>;

/** A selection of all deployments that meet every condition. */
export const DeploymentConditions = strict(
  {
    conditions: Type.Array(Condition, {
      minItems: 1,
      maxItems: conditionBounds.maxPerEntry,
      description: 'Conditions. All of them must be true.',
    }),
  },
  { description: 'All deployments that meet every condition.' },
);
