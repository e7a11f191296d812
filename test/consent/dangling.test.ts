import { expect, it } from 'vitest';
import { startProcess } from '#test/start-process.ts';
import { startService } from '#test/start-service.ts';
import { watchNode } from '#test/watch-node.ts';
import { createForm, getConsent } from './support.ts';

const endpoint = 'http://127.0.0.1:9/';
const savedId = 'applications/bucket/saved';

/** Starts a service whose dependency graphs feed a node state. `newMessages` collects the messages of new issues. */
async function startWithNodeState(applications: object) {
  const watch = watchNode();
  const service = await startService({ applications }, watch.options);
  return { service, state: watch.createState(service), newMessages: watch.log };
}

it('/health and the log report a missing dependency from the start', async () => {
  const configuration = { applications: { app: { endpoint, dependencies: ['lost'], features: createForm(true) } } };
  await using node = await startProcess({ configuration });
  const { json } = await node.sendRequest({ method: 'GET', path: '/health' });
  const message = 'applications.app.dependencies[0]: names "lost", a deployment that is not configured';
  expect(json).toMatchObject({
    status: 'degraded',
    reasons: [{ code: 'configuration_warning', message: expect.stringContaining(message) }],
  });
  await node.untilOutput(/"level":.*applications\.app\.dependencies\[0\]: names \\"lost\\", a deployment that is not configured/);
});

it('a missing saved application is logged once, when a form is built', async () => {
  const { service, state, newMessages } = await startWithNodeState({ app: { endpoint, dependencies: [savedId, 'lost'] } });
  await using _ = service;
  expect(state.listIssues()).toEqual([]);
  await getConsent(service, 'app');
  await getConsent(service, 'app');
  const message = `app depends on ${savedId}, which does not exist`;
  expect(state.listIssues()).toEqual([{ code: 'dependency_missing', message }]);
  expect(newMessages).toEqual([message]);
});

it('a missing saved application is no longer an issue after the graph changes', async () => {
  const { service, state } = await startWithNodeState({ app: { endpoint, dependencies: [savedId] } });
  await using _ = service;
  await getConsent(service, 'app');
  expect(state.listIssues()).toHaveLength(1);
  service.reload({ applications: { app: { endpoint } } });
  await getConsent(service, 'app');
  expect(state.listIssues()).toEqual([]);
});

it('a reload keeps the issues whose dependency is still configured, without building the forms again', async () => {
  const { service, state } = await startWithNodeState({
    app: { endpoint, dependencies: [savedId, `${savedId}-2`] },
    other: { endpoint, dependencies: [`${savedId}-3`] },
  });
  await using _ = service;
  for (const id of ['app', 'other']) await getConsent(service, id);
  expect(state.listIssues()).toHaveLength(3);
  state.recordAcceptedConfiguration([]);
  expect(state.listIssues()).toHaveLength(3);
  service.reload({ applications: { app: { endpoint, dependencies: [savedId, 'lost'] } } });
  state.recordAcceptedConfiguration([]);
  expect(state.listIssues()).toEqual([
    { code: 'dependency_missing', message: `app depends on ${savedId}, which does not exist` },
  ]);
  service.reload({ applications: { app: { endpoint } } });
  state.recordAcceptedConfiguration([]);
  expect(state.listIssues()).toEqual([]);
});

it('at most 100 missing dependencies are stored', async () => {
  const { service, state } = await startWithNodeState({
    app: { endpoint, dependencies: Array.from({ length: 150 }, (_, index) => `${savedId}-${index}`) },
  });
  await using _ = service;
  await getConsent(service, 'app');
  expect(state.listIssues()).toHaveLength(100);
});
