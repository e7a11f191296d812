import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Caller } from '../callers/caller.ts';
import { HeldRights } from '../callers/held-rights.ts';
import { getAppDataPath, toBucket, toDeploymentBucket } from './bucket.ts';
import { collectForwardedFiles } from './collect-forwarded-files.ts';

const caller: Caller = { subject: 'ann', project: 'p', roles: [], chain: null };
const own = `files/${toBucket('ann')}`;

describe('collectForwardedFiles', () => {
  function collect(request: object, by = caller, application = 'app'): { files: string[]; assistantFiles: string[] } {
    const { files, assistantFiles } = collectForwardedFiles(by, { request: request as ChatRequest, path: [application] });
    return { files: [...files], assistantFiles: [...assistantFiles] };
  }
  const collectFiles = (request: object, by = caller): string[] => collect(request, by).files;
  const attached = (...urls: string[]) => ({
    messages: urls.map((url) => ({ role: 'user', content: '', custom_content: { attachments: [{ url }] } })),
  });

  it("returns files of the caller's bucket that the request names, without duplicates", () => {
    const urls = [
      `${own}/a b`,
      `${own}/a%20b`,
      `${own}/%61`,
      'files/other/a',
      'https://x.example/files/a',
      `/${own}/c`,
      `${own}/..`,
    ];
    expect(collectFiles(attached(...urls)).sort()).toEqual([`${own}/a`, `${own}/a%20b`]);
  });

  it('returns only the inherited files for a per-request key', () => {
    const chain = { path: ['app'], rights: new HeldRights({ files: [`${own}/given`] }), report: () => undefined };
    expect(collectFiles(attached(`${own}/kept`), { ...caller, chain })).toEqual([`${own}/given`]);
  });

  it('adds files that an application names and may read, including files granted to it', () => {
    const received = [{ receiver: 'app', url: `${own}/shared/`, permissions: ['READ', 'WRITE'] as const }];
    const chain = { path: ['app'], rights: new HeldRights({ received }), report: () => undefined };
    const named = [`${own}/${getAppDataPath('app')}/x`, `files/${toDeploymentBucket('app')}/y`, `${own}/shared/z`];
    const closed = [`${own}/${getAppDataPath('other')}/x`, `files/${toDeploymentBucket('other')}/y`, `${own}/shared`];
    expect(collectFiles(attached(...named, ...closed), { ...caller, chain }).sort()).toEqual([...named].sort());
  });

  it.each([
    ['app', true],
    [`applications/${toBucket('ann')}/own`, true],
    [`applications/${toBucket('bob')}/app`, false],
  ])(
    'returns a separate list of files from earlier replies, unless another user saved the application %s',
    (application, isKept) => {
      const [guessed, given] = attached(`${own}/guessed`, `${own}/given`).messages;
      const request = { messages: [{ ...guessed, role: 'assistant' }, given] };
      const assistantFiles = isKept ? [`${own}/guessed`] : [];
      expect(collect(request, caller, application)).toEqual({ files: [`${own}/given`], assistantFiles });
    },
  );

  it('retains the origin of files that an application names again', () => {
    const rights = new HeldRights({ files: [`${own}/given`], assistantFiles: [`${own}/guessed`] });
    const by = { ...caller, chain: { path: ['app'], rights, report: () => undefined } };
    const request = attached(`${own}/guessed`, `${own}/given`);
    expect(collect(request, by)).toEqual({ files: [`${own}/given`], assistantFiles: [`${own}/guessed`] });
    const toAnother = collect(request, by, `applications/${toBucket('bob')}/app`);
    expect(toAnother).toEqual({ files: [`${own}/given`], assistantFiles: [] });
  });

  it('returns at most 1000 files, starting with the newest messages', () => {
    const files = collectFiles(attached(...Array.from({ length: 1500 }, (_, index) => `${own}/${index}`)));
    expect(files).toHaveLength(1000);
    expect([files[0], files.at(-1)]).toEqual([`${own}/1499`, `${own}/500`]);
  });

  it('accepts content parts of unusual form', () => {
    const content = [
      { type: 'image_url', image_url: { url: `${own}/1`, detail: 'low' } },
      { type: 'file', file: [`${own}/2`] },
      { type: 'input_audio', input_audio: null },
      { type: 'constructor' },
      { type: 'x', y: `${own}/3` },
    ];
    expect(collectFiles({ messages: [{ role: 'user', content }] })).toEqual([`${own}/1`, `${own}/2`]);
  });
});
