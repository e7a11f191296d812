import { describe, expect, it } from 'vitest';
import { type JsonObject, toObject } from '#base/json/json.ts';
import { type EntryKind, entryKinds } from '#contract/administration/entry-kinds.ts';
import { toWrittenSchema } from '#contract/configuration/schema-node.ts';
import { formKeywords, getInitialValue, type Property, toShape } from '../builder/editors/shape.ts';
import { fieldsEnglish } from '../locales/en/fields.ts';
import type { Service } from '../service/service.ts';
import { parseErrorDetails } from '../service/service-error.ts';
import { listBlockedUsers, toEntryErrors } from './entries.ts';
import { toFormSchema, toPathLabel } from './form-schema.ts';
import { findInherited, findLimit, parseLimit, readLimits, withLimits } from './limits.ts';
import { mergeChanges } from './use-entry-draft.ts';

function getFormSchema(kind: EntryKind): JsonObject {
  const schema = toWrittenSchema(entryKinds[kind].schema, { acceptsReferences: false });
  return toFormSchema(toObject(schema), {
    ...{ kind, strings: fieldsEnglish, deployments: ['gpt'], roles: ['staff'] },
  });
}

function listProperties(schema: JsonObject): readonly Property[] {
  const shape = toShape(schema);
  if (shape.kind === 'group') return shape.properties;
  if (shape.kind === 'list') return listProperties(shape.item);
  return [];
}

describe('toFormSchema', () => {
  it('shows common fields first, and folds all other fields', () => {
    const properties = listProperties(getFormSchema('models'));
    const visible = properties.filter(({ schema }) => schema[formKeywords.collapsed] !== true).map(({ name }) => name);
    expect(visible).toEqual(['displayName', 'upstreams', 'description', 'type', 'userRoles', 'pricing']);
    const upstreams = properties.find(({ name }) => name === 'upstreams')?.schema ?? {};
    const fields = listProperties(upstreams).filter(({ schema }) => schema[formKeywords.collapsed] !== true);
    expect(fields.map(({ schema }) => schema.title)).toEqual([
      ...['Provider', 'Address', 'Key of the provider', 'Name of the model at the provider'],
    ]);
    expect(toShape(fields[2]?.schema ?? {})).toEqual({ kind: 'text', isSecret: true });
  });

  const labeledKinds = ['models', 'applications', 'addons', 'prompts', 'roles', 'keys', 'identity-providers'] as const;
  it.each(labeledKinds)('has a label for each field of %s', (kind) => {
    const unlabeled: string[] = [];
    const visit = (schema: JsonObject, path: string): void => {
      for (const { name, schema: property } of listProperties(schema)) {
        const isLabeled = Object.values(fieldsEnglish.labels).includes(String(property.title));
        if (!isLabeled) unlabeled.push(`${path}.${name}`);
        visit(property, `${path}.${name}`);
      }
    };
    visit(getFormSchema(kind), kind);
    expect(unlabeled).toEqual([]);
  });

  it('omits the secret of a key', () => {
    const names = listProperties(getFormSchema('keys')).map(({ name }) => name);
    expect(names).not.toEqual(expect.arrayContaining(['sha256', 'key', 'previous']));
  });

  it('uses the name and the description in the schema for unknown fields', () => {
    const schema = {
      type: 'object',
      additionalProperties: false,
      properties: { maxWidgets: { type: 'integer', description: 'How many.' } },
    };
    const context = { kind: 'widgets', strings: fieldsEnglish, deployments: [], roles: [] };
    expect(listProperties(toFormSchema(schema, context))[0]?.schema).toMatchObject({
      title: 'Max widgets',
      description: 'How many.',
    });
    expect(getInitialValue(toFormSchema(schema, context))).toEqual({});
  });
});

describe('toPathLabel', () => {
  const model = { kind: 'models', id: 'gpt', section: 'models' };
  it.each([
    ['models.gpt.upstreams[1].key', model, 'Connections › 2 › Key of the provider'],
    ['models["a b"].displayName', { ...model, id: 'a b' }, 'Name'],
    ['roles.staff.limits["gpt 5"].day', { kind: 'roles', id: 'staff', section: 'roles' }, 'Limits › gpt 5 › Tokens a day'],
    ['models.gpt', model, ''],
  ])('returns the label of %s', (path, entry, label) => {
    expect(toPathLabel(path, entry, fieldsEnglish)).toBe(label);
  });
});

describe('mergeChanges', () => {
  const base = { displayName: 'A', description: 'B', pricing: { prompt: 1 }, upstreams: [{ protocol: 'demo' }] };

  it('keeps the input of the user, and adds concurrent changes', () => {
    const input = { ...base, displayName: 'Mine', pricing: { prompt: 2 } };
    const stored = { ...base, description: 'Theirs', pricing: { prompt: 3, completion: 4 } };
    const { theirs, merged } = mergeChanges(base, input, stored);
    expect(merged).toEqual({ ...base, displayName: 'Mine', description: 'Theirs', pricing: { prompt: 2, completion: 4 } });
    expect(theirs.map(({ path, isContested }) => [path.join('.'), isContested])).toEqual([
      ['description', false],
      ['pricing.prompt', true],
      ['pricing.completion', false],
    ]);
  });

  it('does not restore values that the user removed', () => {
    const { description: _, ...input } = base;
    expect(mergeChanges(base, input, { ...base, displayName: 'Theirs' }).merged).toEqual({ ...input, displayName: 'Theirs' });
  });
});

describe('toEntryErrors', () => {
  const details = { status: 400, code: 'invalid_request', message: 'x must be a number.' };

  it('assigns errors to the fields of the entry', () => {
    const errors = [
      { path: 'models["my model"].upstreams[0].weight', message: 'must be at least 0' },
      { path: 'models["my model"].upstreams[0].weight', message: 'must be a number' },
      { path: 'applications.x', message: 'refers to it' },
    ];
    const { byField, general } = toEntryErrors({ ...details, errors }, 'models', 'my model');
    expect([...byField]).toEqual([['upstreams[0].weight', 'Must be at least 0. Must be a number.']]);
    expect(general).toEqual(['applications.x: Refers to it.']);
  });

  it('shows the suggested correction of an error', () => {
    const path = 'models.m.upstreams[0]';
    const errors = [
      { path: `${path}.wieght`, message: 'is not a known key', hint: 'did you mean weight?' },
      { path: `${path}.key`, message: 'is too short', hint: 'create a longer one' },
    ];
    const parsed = parseErrorDetails({ error: { message: 'x', errors } }, 400);
    expect([...toEntryErrors(parsed, 'models', 'm').byField.values()]).toEqual([
      'Is not a known key. Did you mean weight?',
      'Is too short. Create a longer one.',
    ]);
  });

  it('assigns a single error to the field in param', () => {
    expect([...toEntryErrors({ ...details, param: 'x' }, 'keys', '').byField]).toEqual([['x', 'Must be a number.']]);
  });
});

describe('findLimit', () => {
  const roles = new Map([
    ['default', readLimits({ limits: { '*': { day: 100 }, big: { day: 5 } } })],
    ['staff', readLimits({ limits: { gpt: { minute: 7 } } })],
    ['open', readLimits({ limits: { '*': {} } })],
  ]);
  const find = (role: string, deployment: string) => findLimit(roles, { role, deployment, window: 'day' });

  it('returns the limit of the first entry that applies', () => {
    expect(find('default', 'gpt')).toEqual({ value: 100, isOwn: false });
    expect(find('staff', 'gpt')).toEqual({ value: undefined, isOwn: true });
    expect(find('staff', 'big')).toEqual({ value: 5, isOwn: false });
    expect(find('open', 'big')).toEqual({ value: undefined, isOwn: false });
  });
});

describe('withLimits', () => {
  it('keeps the other windows of the entry that a new one replaces', () => {
    const inherited = (deployment: string) => findInherited(new Map([['a', { '*': { day: 1, minute: 2 } }]]), 'a', deployment);
    const change = (text: string) => withLimits({ limits: {} }, [{ deployment: 'gpt', window: 'day', text }], inherited);
    expect(change('1,000')).toEqual({ limits: { gpt: { day: 1000, minute: 2 } } });
    expect(change('')).toEqual({ limits: {} });
    const last = withLimits({ limits: { gpt: { day: 3 } } }, [{ deployment: 'gpt', window: 'day', text: '' }], inherited);
    expect(last).toEqual({ limits: {} });
  });
});

describe('parseLimit', () => {
  it.each([
    ['12', 12],
    ['1.000.000', 1_000_000],
    ['1\u202f000', 1000],
    ['', undefined],
    ['1.5', null],
    ['-1', null],
    ['many', null],
  ])('parses %j', (text, value) => {
    expect(parseLimit(text)).toBe(value);
  });
});

describe('listBlockedUsers', () => {
  it('returns the users of all pages', async () => {
    const pages: Readonly<Record<string, object>> = {
      'v1/admin/blocked-users?limit=500': { data: [{ user: 'ada', reason: null, blockedAt: 2 }], nextToken: '2.ada' },
      'v1/admin/blocked-users?limit=500&token=2.ada': { data: [{ user: 'ben', reason: 'left', blockedAt: 1 }] },
    };
    const service = { json: (path: string) => Promise.resolve(pages[path]) } as Partial<Service> as Service;
    expect(await listBlockedUsers(service)).toEqual([
      { user: 'ada', reason: '', blockedAtMs: 2 },
      { user: 'ben', reason: 'left', blockedAtMs: 1 },
    ]);
  });
});
