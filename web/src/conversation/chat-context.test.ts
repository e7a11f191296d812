import { describe, expect, it } from 'vitest';
import type { Deployment } from '../service/deployments.ts';
import type { Service } from '../service/service.ts';
import { readChatContext } from './chat-context.ts';
import type { Conversation } from './conversation.ts';

const documents: Readonly<Record<string, object>> = {
  memory: { notes: { content: 'Private notes.', isOn: true } },
  projects: { home: { content: 'Speak German.', files: [] } },
};

/** A service with the documents of one user. */
const service = {
  async json(path: string) {
    const [, kind, , folder = '', name = ''] = path.replace('metadata/', '').split('/');
    if (kind !== 'prompts') return { bucket: 'own' };
    const stored = documents[folder] ?? {};
    if (name !== '') return stored[name as keyof typeof stored];
    return { items: Object.keys(stored).map((each) => ({ name: each, nodeType: 'ITEM' })) };
  },
} as unknown as Service;

const conversation = { tags: ['home'] } as unknown as Conversation;

describe('readChatContext', () => {
  it.each([
    ['operator', ['Notes about the user, written by the user:\nPrivate notes.', 'Speak German.']],
    ['self', ['Notes about the user, written by the user:\nPrivate notes.', 'Speak German.']],
    ['other', ['Speak German.']],
    [undefined, ['Speak German.']],
  ] as const)('returns the instructions for a deployment whose owner is %s', async (owner, instructions) => {
    const deployment = owner && ({ owner } as Deployment);
    expect(await readChatContext(service, conversation, deployment)).toEqual({ instructions, files: [] });
  });
});
