import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type StoredEntryKind, storedEntries } from './stored-entries.ts';

interface Node {
  readonly type?: string;
  readonly anyOf?: readonly Node[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly items?: Node;
  readonly maxProperties?: number;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly patternProperties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: boolean | Node;
}

/** Yields the paths of strings, lists, and objects without a limit. */
function* findUnbounded(node: Node, path: string): Iterable<string> {
  if (node.enum !== undefined || node.const !== undefined) return;
  for (const [nth, form] of (node.anyOf ?? []).entries()) yield* findUnbounded(form, `${path}|${nth}`);
  if (node.type === 'string' && node.maxLength === undefined && !/^\^\[[^\]]+\]\{\d+,\d+\}\$$/.test(node.pattern ?? ''))
    yield path;
  if (node.type === 'array') {
    if (node.maxItems === undefined) yield path;
    if (node.items !== undefined) yield* findUnbounded(node.items, `${path}[]`);
  }
  if (node.type !== 'object') return;
  if (node.additionalProperties !== false && node.maxProperties === undefined) yield path;
  for (const members of [node.properties, node.patternProperties])
    for (const [key, member] of Object.entries(members ?? {})) yield* findUnbounded(member, `${path}.${key}`);
  if (typeof node.additionalProperties === 'object') yield* findUnbounded(node.additionalProperties, `${path}.*`);
}

const kinds: readonly [string, StoredEntryKind][] = Object.entries(storedEntries);

describe('storedEntries', () => {
  it.each(kinds.filter(([, { boundedBy }]) => boundedBy === 'fields'))(
    'limits every text, list, and object of %s',
    (name, { schemas }) => {
      expect(schemas.flatMap((schema) => [...findUnbounded(schema as Node, name)])).toEqual([]);
    },
  );

  it.each(kinds)('limits the bytes of %s', (_name, { maxBytes }) => {
    expect(maxBytes).toBeLessThanOrEqual(16 * 1024 ** 2);
  });

  it('findUnbounded finds texts, lists, and objects without a limit', () => {
    const text = { type: 'string' };
    const schema = {
      type: 'object',
      additionalProperties: false,
      properties: {
        text,
        list: { type: 'array', maxItems: 3, items: text },
        lists: { type: 'array', items: { type: 'number' } },
        open: { type: 'object' },
        either: { anyOf: [{ type: 'null' }, text] },
        name: { type: 'string', pattern: '^[a-z]{1,64}$' },
      },
    };
    expect([...findUnbounded(schema, 'a')]).toEqual(['a.text', 'a.list[]', 'a.lists', 'a.open', 'a.either|1']);
  });

  it('has a kind for each route that writes', () => {
    const writing = globSync('src/surfaces/**/*.ts')
      .filter((file) => !file.endsWith('.test.ts') && /method: '(?:PUT|POST|PATCH)'/.test(readFileSync(file, 'utf8')))
      .sort();
    expect(writing).toEqual(Object.keys(routes).sort());
  });
});

type RouteEntries = keyof typeof storedEntries | 'nothing' | 'copies';

/**
 * Kinds of entries that the routes in each file store. Add each new file with a writing route here, and its entries to
 * `storedEntries`.
 */
const routes: Readonly<Record<string, RouteEntries | readonly RouteEntries[]>> = {
  'src/surfaces/admin/entries/change-routes.ts': 'adminDocument',
  'src/surfaces/admin/entries/entry-routes.ts': 'adminEntry',
  'src/surfaces/admin/entries/key-routes.ts': 'adminKey',
  'src/surfaces/admin/entries/limit-routes.ts': 'adminEntry',
  'src/surfaces/admin/user-routes.ts': 'blockedUser',
  'src/surfaces/applications/access-routes.ts': 'applicationAccess',
  'src/surfaces/applications/evaluation/case-routes.ts': 'evaluationCases',
  'src/surfaces/applications/evaluation/evaluation-routes.ts': 'evaluationCases',
  'src/surfaces/applications/routes.ts': 'application',
  'src/surfaces/applications/tool-routes.ts': 'nothing',
  'src/surfaces/chats/routes.ts': 'chat',
  'src/surfaces/chats/share-routes.ts': 'chatShare',
  'src/surfaces/consent/routes.ts': 'consent',
  'src/surfaces/files/resources/routes.ts': ['permissions', 'conversation', 'copies'],
  'src/surfaces/chat-completions/run-routes.ts': 'nothing',
  'src/surfaces/user-keys/routes.ts': 'userKey',
  'src/surfaces/responses/stored/conversation-routes.ts': 'responseMetadata',
  'src/surfaces/responses/stored/stored-routes.ts': 'nothing',
};
