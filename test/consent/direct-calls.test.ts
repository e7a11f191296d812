import { expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { accept, deleteConsent, startLandscape } from './support.ts';

const applications = { root: { dependencies: ['leaf'] }, leaf: { requiresConsent: true }, plain: { dependencies: ['model'] } };
const options = { consent: { directCalls: 'require' } };

it('a direct call needs consent if the configuration requires it', async () => {
  await using landscape = await startLandscape(applications, { more: options });
  expect(await landscape.callThrough(['root'])).toBe(
    '403 consent_required: root needs your consent before it answers. GET /v1/consent/root returns the form to accept.',
  );
  await accept(landscape.service, 'root');
  expect(await landscape.callThrough(['root', 'leaf'])).toBe('done');
  expect(await landscape.callThrough(['root'], 'other')).toMatch(/^403 consent_required/);
  expect(await landscape.callThrough(['leaf'])).toContain('GET /v1/consent/leaf ');
  await deleteConsent(landscape.service, 'root');
  expect(await landscape.callThrough(['root'])).toMatch(/^403 consent_required/);
});

it('the error for missing consent contains the form', async () => {
  await using landscape = await startLandscape(applications, { more: options });
  const { error } = await landscape.service.chat('root', { messages: hello });
  expect(error).toMatchObject({
    code: 'consent_required',
    deployment: 'root',
    consent: { root: { consentRequired: false }, leaf: { consentRequired: true } },
  });
});

it('a direct call needs consent to the current form', async () => {
  await using landscape = await startLandscape(applications, { more: options });
  await accept(landscape.service, 'root');
  landscape.reload({ ...applications, root: { dependencies: ['leaf', 'plain'] } });
  expect(await landscape.callThrough(['root'])).toMatch(/^403 consent_required/);
  await accept(landscape.service, 'root');
  expect(await landscape.callThrough(['root'])).toBe('done');
});

it('a direct call is admitted without consent if no deployment in the form requires it', async () => {
  await using landscape = await startLandscape(applications, { more: options });
  expect(await landscape.callThrough(['plain', 'model'])).toBe('done');
  expect((await landscape.service.chat('model', { messages: hello })).status).toBe(200);
});

it('a direct chat or embeddings call requires consent if the model does', async () => {
  await using landscape = await startLandscape(applications, { more: options });
  const { service } = landscape;
  const embed = () =>
    service.sendRequest({
      path: '/v1/embeddings',
      headers: { 'api-key': 'caller-key', 'content-type': 'application/json' },
      body: { model: 'vectors', input: 'x' },
    });
  expect((await service.chat('guarded', { messages: [] })).error.code).toBe('consent_required');
  expect((await embed()).error.code).toBe('consent_required');
  await accept(service, 'guarded');
  await accept(service, 'vectors');
  expect((await service.chat('guarded', { messages: hello })).status).toBe(200);
  expect((await embed()).status).toBe(200);
});
