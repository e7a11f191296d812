import { expect, it } from 'vitest';
import type { Deployment } from '../../service/deployments.ts';
import { findMatching } from './conditions-editor.tsx';

const deployment = (fields: Partial<Deployment>): Deployment => ({
  ...{ id: '', name: '', description: '', isApplication: false, requiresConsent: false, dependencies: [] },
  ...{ owner: 'operator', ownerName: undefined, position: 0 },
  ...{ version: undefined, iconUrl: undefined, attachmentTypes: undefined, maxAttachments: undefined, pricing: undefined },
  ...{ hasTools: false, canReason: false, contextTokens: undefined },
  ...fields,
});

const all = [deployment({ id: 'demo', name: 'Demo' }), deployment({ id: 'mailbox', name: 'Mail', isApplication: true })];

it.each<[readonly object[], readonly string[]]>([
  [[{ condition_type: 'eq', property_name: 'display_name', const: 'Mail' }], ['mailbox']],
  [[{ condition_type: 'match', property_name: 'application', expression: 'false' }], ['demo']],
  [[{ condition_type: 'match', property_name: 'id', expression: 'z' }], []],
])('returns the matches of %j: %j', (conditions, ids) => {
  expect(findMatching(conditions, all)?.map(({ id }) => id)).toEqual(ids);
});

it.each<[readonly unknown[]]>([
  [[]],
  [[{ condition_type: 'match', property_name: 'id', expression: '(?=a)' }]],
  [[{ condition_type: 'match', property_name: 'id', expression: '[' }]],
  [[{ condition_type: 'eq', property_name: 'id' }]],
  [['id']],
])('returns undefined for %j', (conditions) => {
  expect(findMatching(conditions, all)).toBeUndefined();
});
