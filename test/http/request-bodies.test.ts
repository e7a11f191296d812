import { describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply } from '#test/scripted-upstream.ts';
import { startModel } from '#test/start-model.ts';
import { callerKey, getChatPath, withKey } from '#test/start-service.ts';

const { upstream, service } = await startModel(jsonReply(plainCompletion('hi')));

const validBody = JSON.stringify({ model: 'm', max_tokens: 10, messages: hello });

/** Returns the valid body with other bytes as its text. */
function withText(...bytes: readonly number[]): Buffer {
  const [before = '', after = ''] = validBody.split('Hello');
  return Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
}

const routes = [
  { method: 'POST', path: getChatPath('m') },
  { method: 'POST', path: '/v1/chat/completions' },
  { method: 'POST', path: '/anthropic/v1/messages' },
  { method: 'POST', path: '/v1/consent/m' },
];

describe('request body', () => {
  it.each([
    ['an invalid first byte', [0xff]],
    ['half of a character', [0xc3]],
    ['an overlong encoding', [0xc0, 0xaf]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a code point beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
    ['Latin-1', [0x47, 0x72, 0xfc, 0xdf, 0x65]],
  ])('with %s is rejected by each API with the reason', async (_what, bytes) => {
    for (const route of routes) {
      const { status, text } = await service.sendRequest({ ...route, headers: withKey(), body: withText(...bytes) });
      expect([route.path, status]).toEqual([route.path, 400]);
      expect(text).toContain('not valid UTF-8');
    }
    expect(upstream.requests).toEqual([]);
  });

  it('that is not UTF-8 is rejected after authentication', async () => {
    const body = withText(0xff);
    expect((await service.sendRequest({ path: getChatPath('m'), headers: withKey('unknown'), body })).status).toBe(401);
    expect((await service.sendRequest({ path: getChatPath('none'), headers: withKey(), body })).status).toBe(404);
  });

  it('in UTF-8 arrives unchanged, regardless of the split of its bytes', async () => {
    const content = 'Größe 猫 🐈‍⬛ \ud7ff\ue000';
    const bytes = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] }));
    const sent = await fetch(service.url + getChatPath('m'), {
      method: 'POST',
      headers: withKey(),
      body: new ReadableStream({
        start(controller) {
          for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
          controller.close();
        },
      }),
      duplex: 'half',
    });
    expect(sent.status).toBe(200);
    expect(upstream.requests.at(-1)?.body).toMatchObject({ messages: [{ content }] });
  });

  it.each(['utf-16', 'UTF-16LE', '"iso-8859-1"', "'windows-1252'", 'utf-7', '', '"utf-8'.padEnd(300, '8')])(
    'with the charset %s is rejected with a hint',
    async (charset) => {
      for (const route of routes) {
        const headers = { 'api-key': callerKey, 'content-type': `application/json; charset=${charset}` };
        const { status, text } = await service.sendRequest({ ...route, headers, body: validBody });
        expect([route.path, status]).toEqual([route.path, 415]);
        expect(text).toContain('UTF-8');
        expect(text.length).toBeLessThan(500);
      }
    },
  );

  it.each([
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json ; charset="utf-8"',
    'application/json; charset=utf8',
    'application/json; charset=us-ascii',
    'application/json; profile="x"; charset=utf-8',
  ])('is accepted as %s', async (type) => {
    const headers = { 'api-key': callerKey, 'content-type': type };
    expect((await service.sendRequest({ path: getChatPath('m'), headers, body: validBody })).status).toBe(200);
  });
});
