import { expect, it } from 'vitest';
import { isExpression } from './condition-parts.ts';
import type { Condition } from './conditions.ts';
import { createConditionMatcher } from './meet-conditions.ts';

const all = [
  { id: 'demo', displayName: 'Demo', description: 'Answers by rules.', isApplication: false },
  { id: 'mailbox', displayName: 'Mail', description: '', isApplication: true },
];

it.each<[readonly Condition[], readonly string[]]>([
  [[{ condition_type: 'eq', property_name: 'id', const: 'demo' }], ['demo']],
  [[{ condition_type: 'eq', property_name: 'display_name', const: 'demo' }], []],
  [[{ condition_type: 'eq', property_name: 'application', const: true }], ['mailbox']],
  [[{ condition_type: 'eq', property_name: 'application', const: 'application' }], ['mailbox']],
  [[{ condition_type: 'eq', property_name: 'application', const: 'model' }], ['demo']],
  [[{ condition_type: 'match', property_name: 'application', expression: 'false' }], ['demo']],
  [[{ condition_type: 'match', property_name: 'description', expression: 'rul' }], ['demo']],
  [[{ condition_type: 'match', property_name: 'id', expression: '^m|o$' }], ['demo', 'mailbox']],
  [
    [
      { condition_type: 'match', property_name: 'id', expression: '.' },
      { condition_type: 'eq', property_name: 'display_name', const: 'Mail' },
    ],
    ['mailbox'],
  ],
])('createConditionMatcher selects deployments for %j: %j', (conditions, ids) => {
  expect(all.filter(createConditionMatcher(conditions)).map(({ id }) => id)).toEqual(ids);
});

it('isExpression accepts the syntax of RE2', () => {
  expect(['^m|o$', '\\pL+', '(?=a)', '(a)\\1', '['].map(isExpression)).toEqual([true, true, false, false, false]);
  expect(['a'.repeat(1000), `[${'\\pL\\PL'.repeat(2000)}]`].map(isExpression)).toEqual([true, false]);
});
