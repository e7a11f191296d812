import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestRequest } from '#test/send-request.ts';
import { type AuditEvent, startService, type TestService, withKey } from '#test/start-service.ts';
import { getApplicationPath, quickApp } from '../applications/support.ts';
import { getConsentPath, getForm } from '../consent/support.ts';

const auditEvents: AuditEvent[] = [];
let service: TestService;

beforeAll(async () => {
  service = await startService(
    {
      models: {
        demo: { upstreams: [{ protocol: 'demo' }] },
        careful: { upstreams: [{ protocol: 'demo' }], features: { consentRequired: true } },
      },
    },
    { recordAudit: (event) => auditEvents.push(event) },
  );
});

afterAll(() => service.close());

const version = getApplicationPath('app').replace('/v1/', '/v1/versions/');
const steps: readonly (readonly [action: string, createRequest: () => TestRequest | Promise<TestRequest>])[] = [
  ['application.saved', () => ({ method: 'PUT', path: getApplicationPath('app'), body: quickApp() })],
  ['application.saved', () => ({ path: `${version}?version=1` })],
  ['application.deleted', () => ({ method: 'DELETE', path: getApplicationPath('app') })],
  ['consent.accepted', async () => ({ path: getConsentPath('careful'), body: { consent: await getForm(service, 'careful') } })],
  ['consent.withdrawn', () => ({ method: 'DELETE', path: getConsentPath('careful') })],
];

it.each([
  ['that Parley generates', {}],
  ['that the client sends', { 'x-request-id': 'given-by-the-caller' }],
])('audit events have the request ID of the response, %s', async (_description, id: Record<string, string>) => {
  auditEvents.length = 0;
  const expected: unknown[] = [];
  for (const [action, createRequest] of steps) {
    const { status, headers } = await service.sendRequest({ ...(await createRequest()), headers: { ...withKey(), ...id } });
    expect([action, status]).toEqual([action, expect.toSatisfy((value) => value < 300)]);
    expected.push([action, headers['x-request-id']]);
  }
  expect(auditEvents.map(({ action, requestId }) => [action, requestId])).toEqual(expected);
  expect(new Set(auditEvents.map(({ requestId }) => requestId)).size).toBe('x-request-id' in id ? 1 : steps.length);
});
