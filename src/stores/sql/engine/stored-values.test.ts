import { describe, expect, it } from 'vitest';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import { openHead, openTurn } from '../chats/chat-rows.ts';
import { openSnapshot } from '../chats/share-store.ts';
import { openItem } from '../responses/conversation-rows.ts';
import { fromRow } from '../responses/response-rows.ts';

const seal = new Seal([new Secret('the secret of the test')]);
const sealed = (value: unknown, context: string): string => seal.seal(JSON.stringify(value), context);
const unexpectedValues: readonly unknown[] = [['x'], 'x', 1, null, true];

describe('Entries that another version stored in another form', () => {
  it.each(unexpectedValues)('are read as a chat and a turn without fields: %j', (value) => {
    const row = { subject: 's', id: 'c', revision: 1, shelf: 0, updated_at_ms: 1 };
    expect(openHead(seal, { ...row, sealed_head: sealed(value, '["chat","s","c"]') }).fields).toEqual({});
    const turn = { subject: 's', chat: 'c', id: 't' };
    expect(openTurn(seal, { ...turn, sealed_turn: sealed(value, '["turn","s","c","t"]') })).toEqual({});
  });

  it.each(unexpectedValues)('are read as a response with only the valid items: %j', (value) => {
    const content = { response: value, input: [value, { id: 'a' }], items: value };
    const row = { id: 'r', subject: 's', status: 'completed', is_background: 0, previous_id: null };
    const times = { created_at_ms: 1, expires_at_ms: 2 };
    const read = (stored: unknown) => fromRow(seal, { ...row, ...times, sealed_content: sealed(stored, 'r') } as never);
    expect(read(content)).toMatchObject({ response: { status: 'completed' }, input: [{ id: 'a' }], items: [] });
    expect(read(value)).toMatchObject({ response: { status: 'completed' }, input: [] });
  });

  it.each(unexpectedValues)('are not opened as a share: %j', (value) => {
    const open = (content: unknown) =>
      openSnapshot(seal, {
        ...{ subject: 's', id: 'i', sealed_title: sealed('Title', '["share title","s","i"]') },
        sealed_content: sealed(content, '["share content","s","i"]'),
      });
    const valid = { deployment: 'd', turns: [{ id: 't' }], files: [{ path: 'p', etag: 'e' }] };
    expect(open(valid)).toEqual({ ...valid, title: 'Title' });
    for (const content of [value, { ...valid, turns: [value] }, { ...valid, files: [value] }])
      expect(open(content)).toBeUndefined();
  });

  it.each(unexpectedValues)('are read as a conversation item without fields: %j', (value) => {
    expect(openItem(seal, { conversation: 'c', nth: 0, sealed_item: sealed(value, 'c/0') })).toEqual({});
  });
});
