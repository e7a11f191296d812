import { describe, expect, it } from 'vitest';
import type { ChatPage, Chats } from '../service/chats.ts';
import { ServiceError } from '../service/service-error.ts';
import type { Conversation } from './conversation.ts';
import { createMemoryDatabase, type Database, toSummary } from './database.ts';
import { ServerSync } from './server-sync.ts';

const conversation: Conversation = {
  ...{ id: 'old', title: 'Old', deployment: 'demo', createdAtMs: 1, updatedAtMs: 1, shown: {}, turns: {} },
};

async function syncOnce(chats: Partial<Chats>, database: Database): Promise<ServerSync> {
  const sync = new ServerSync({ chats: chats as Chats, database, onChange: () => undefined });
  await sync.start();
  return sync;
}

describe('ServerSync', () => {
  it.each([
    ['keeps', 'old', []],
    ['removes', 'other', ['old']],
  ])('%s a local chat if page 21, the last of the list, contains the chat %s', async (_verb, lastId, removedIds) => {
    const toPage = (page: number): ChatPage => ({
      data: [{ id: page === 21 ? lastId : `chat ${page}`, revision: 1 }],
      revision: 1,
      nextToken: page < 21 ? String(page + 1) : null,
    });
    const deletedIds: string[] = [];
    const sync = await syncOnce(
      {
        list: async ({ archived, token = '1' }) =>
          archived === 'true' ? { data: [], revision: 1, nextToken: null } : toPage(Number(token)),
      },
      {
        ...createMemoryDatabase(),
        listSummaries: async () => [toSummary(conversation)],
        deleteLocal: async (id) => void deletedIds.push(id),
      },
    );
    await sync.close();
    expect(deletedIds).toEqual(removedIds);
  });

  it('does not send a chat if the service stores no chats', async () => {
    const requests: string[] = [];
    const reject = (name: string) => async (): Promise<never> => {
      requests.push(name);
      throw new ServiceError({ status: 404, code: 'route_not_found', message: '' });
    };
    const sync = await syncOnce(
      { list: reject('list'), write: reject('write') },
      {
        ...createMemoryDatabase(),
        readConversation: async () => conversation,
        findUnsent: async () => ({ id: 'old', stamp: '1' }),
      },
    );
    await sync.sendNow('old');
    expect(requests).toEqual(['list']);
  });
});
