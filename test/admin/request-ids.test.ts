import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestRequest } from '#test/send-request.ts';
import { type AuditEvent, startService, type TestService, withKey } from '#test/start-service.ts';
import { pathOf, quickApp } from '../applications/support.ts';
import { consentPath, getForm } from '../consent/support.ts';

const noted: AuditEvent[] = [];
let service: TestService;

beforeAll(async () => {
  service = await startService(
    {
      models: {
        demo: { upstreams: [{ protocol: 'demo' }] },
        careful: { upstreams: [{ protocol: 'demo' }], features: { consentRequired: true } },
      },
    },
    { noteAudit: (event) => noted.push(event) },
  );
});

afterAll(() => service.close());

const version = pathOf('app').replace('/v1/', '/v1/versions/');
const steps: readonly (readonly [action: string, asking: () => TestRequest | Promise<TestRequest>])[] = [
  ['application.saved', () => ({ method: 'PUT', path: pathOf('app'), body: quickApp() })],
  ['application.saved', () => ({ path: `${version}?version=1` })],
  ['application.deleted', () => ({ method: 'DELETE', path: pathOf('app') })],
  ['consent.accepted', async () => ({ path: consentPath('careful'), body: { consent: await getForm(service, 'careful') } })],
  ['consent.withdrawn', () => ({ method: 'DELETE', path: consentPath('careful') })],
];

it.each([
  ['of its own', {}],
  ['that the caller gave', { 'x-request-id': 'given-by-the-caller' }],
])('what is noted in the audit log has the id of the answer, %s', async (_which, id: Record<string, string>) => {
  noted.length = 0;
  const told: unknown[] = [];
  for (const [action, toAsking] of steps) {
    const { status, headers } = await service.sendRequest({ ...(await toAsking()), headers: { ...withKey(), ...id } });
    expect([action, status]).toEqual([action, expect.toSatisfy((each) => each < 300)]);
    told.push([action, headers['x-request-id']]);
  }
  expect(noted.map(({ action, requestId }) => [action, requestId])).toEqual(told);
  expect(new Set(noted.map(({ requestId }) => requestId)).size).toBe('x-request-id' in id ? 1 : steps.length);
});
