import { expect, it } from 'vitest';
import type { Deployment } from '../service/deployments.ts';
import { matching } from './matching.ts';

const deployment = (fields: Partial<Deployment>): Deployment => ({
  ...{ id: '', name: '', description: '', isApplication: false, requiresConsent: false, dependencies: [] },
  ...{ maker: 'operator', place: 0 },
  ...{ version: undefined, iconUrl: undefined, attachmentTypes: undefined, pricing: undefined },
  ...fields,
});

const all = [
  deployment({ id: 'demo', name: 'Demo', description: 'Answers by rules.' }),
  deployment({ id: 'mailbox', name: 'Mail', isApplication: true }),
];

it.each<[readonly object[], readonly string[]]>([
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
])('%j finds %j', (conditions, ids) => {
  expect(matching(conditions, all)?.map(({ id }) => id)).toEqual(ids);
});

it.each<[readonly unknown[]]>([
  [[]],
  [[{ condition_type: 'match', property_name: 'id', expression: '(?=a)' }]],
  [[{ condition_type: 'match', property_name: 'id', expression: '[' }]],
  [['id']],
])('%j finds nothing to tell', (conditions) => {
  expect(matching(conditions, all)).toBeUndefined();
});
