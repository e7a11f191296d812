import { expect, it } from 'vitest';
import { calls, getStages, getToolMessages, getTrace, quickApp, says, startRig, user } from './support.ts';

it("the trace contains the same reason as the tool message and the stage if a tool lacks the user's consent", async () => {
  await using rig = await startRig({
    app: { applications_as_tools: ['leaf'] },
    replies: [calls(['leaf', { query: 'What is new?' }]), says('Sorry.')],
    configuration: {
      applications: { leaf: quickApp({}, { features: { consentRequired: true } }) },
      keys: { 'caller-key': { project: 'test', role: 'admin' } },
    },
  });
  const response = await rig.chat([user('Do it.')], {}, { 'x-parley-trace': 'true' });
  const reason =
    /^The tool failed: leaf needs your consent before app may use it\. GET \/v1\/consent\/app returns the form to accept\.$/;
  const [toolMessage] = getToolMessages(rig);
  expect(toolMessage).toMatch(reason);
  expect(getStages(response)).toMatchObject([{ status: 'failed', content: expect.stringContaining(String(toolMessage)) }]);
  expect(getTrace(response).find(({ kind }) => kind === 'tool')?.error).toBe(toolMessage);
});
