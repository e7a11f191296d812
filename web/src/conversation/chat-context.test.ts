import { describe, expect, it } from 'vitest';
import type { Message } from '#contract/chat/message.ts';
import type { Deployment } from '../service/deployments.ts';
import type { Service } from '../service/service.ts';
import { readChatContext, withFiles, withoutRejectedFiles } from './chat-context.ts';
import type { Conversation } from './conversation.ts';

const documents: Readonly<Record<string, object>> = {
  memory: { notes: { content: 'Private notes.', isOn: true } },
  projects: { home: { content: 'Speak German.', files: [] } },
};

/** A service with the documents of one user. */
const service = {
  async json(path: string) {
    const [, kind, , folder = '', name = ''] = path.replace(/metadata\/|\?.*/g, '').split('/');
    if (kind !== 'prompts') return { bucket: 'own' };
    const stored = folder === '' ? documents : (documents[folder] ?? {});
    if (name !== '') return stored[name as keyof typeof stored];
    return { items: Object.keys(stored).map((each) => ({ name: each, url: `prompts/own/${folder}/${each}`, nodeType: 'ITEM' })) };
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
    expect(await readChatContext(service, conversation, deployment)).toEqual({
      ...{ instructions, files: [] },
      used: { hasNotes: instructions.length > 1, projects: ['home'] },
    });
  });

  it('requests no folder that does not exist', async () => {
    const requests: string[] = [];
    const json = async (path: string) => {
      requests.push(path);
      return path === 'v1/bucket' ? { bucket: 'own' } : { items: [] };
    };
    const emptyService = { json } as unknown as Service;
    const deployment = { owner: 'operator' } as Deployment;
    expect(await readChatContext(emptyService, conversation, deployment)).toMatchObject({ instructions: [], files: [] });
    expect(requests).toEqual(['v1/bucket', 'v1/metadata/prompts/own/']);
  });
});

const notes = { type: 'text/plain', title: 'notes', index: 0 };
const picture = { type: 'image/png', title: 'picture', index: 1 };
const plan = { type: 'image/png', title: 'plan', index: 2 };
const imagesOnly = { attachmentTypes: ['image/*'], maxAttachments: 1 };
const ask = (content: string, ...attachments: object[]): Message =>
  ({ role: 'user', content, ...(attachments.length > 0 && { custom_content: { attachments } }) }) as Message;

describe('withoutRejectedFiles', () => {
  it('removes the files that the deployment does not accept, and returns their names', () => {
    const messages = [ask('Both', notes, picture, plan), { role: 'assistant', content: 'Seen.' } as const, ask('', notes)];
    expect(withoutRejectedFiles(messages, imagesOnly)).toEqual({
      messages: [ask('Both', { ...picture, index: 0 }), messages[1], ask('notes')],
      omittedFiles: ['notes', 'plan'],
    });
  });

  it('keeps the messages for a deployment without limits', () => {
    const messages = [ask('Both', notes, picture)];
    expect(withoutRejectedFiles(messages, undefined)).toEqual({ messages, omittedFiles: [] });
  });
});

describe('withFiles', () => {
  it('adds files after those of the first question, up to the maximum', () => {
    const added = { type: 'image/png', title: 'Added' };
    const withAdded = (...first: object[]) => withFiles([ask('One', ...first), ask('Two')], [added], imagesOnly);
    expect(withAdded()).toEqual([ask('One', { ...added, index: 0 }), ask('Two')]);
    expect(withAdded(picture)).toEqual([ask('One', { ...picture, index: 0 }), ask('Two')]);
  });
});
