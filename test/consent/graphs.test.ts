import { expect, it } from 'vitest';
import { type DependencyGraph, startService } from '#test/start-service.ts';
import vectors from '../vectors/consent-graphs.json' with { type: 'json' };
import { createForm, getConsent, postConsent } from './support.ts';

type Vector = (typeof vectors)[number];

function toConfiguration({ deployments }: Vector): object {
  const entries = deployments.map(({ id, dependencies, consentRequired }) => [
    id,
    { endpoint: 'http://127.0.0.1:9/', dependencies, features: createForm(consentRequired) },
  ]);
  return { applications: Object.fromEntries(entries) };
}

function toForm({ form }: Vector): object {
  return Object.fromEntries(form.map(([id, consentRequired]) => [id, createForm(consentRequired === true)]));
}

it.each(vectors)('the served form has $name', async (vector) => {
  const graphs: DependencyGraph[] = [];
  await using service = await startService(toConfiguration(vector), { onDependencyGraph: (graph) => graphs.push(graph) });
  const { status, text } = await getConsent(service, encodeURIComponent(vector.root));
  const requiresConsent = vector.form.some(([, consentRequired]) => consentRequired === true);
  const expected = requiresConsent ? { consent: toForm(vector), accepted: false } : { accepted: true };
  expect([status, JSON.parse(text)]).toEqual([200, expected]);
  expect(graphs.map(({ dangling }) => dangling.map(({ deployment, dependency }) => [deployment, dependency]))).toEqual([
    vector.dangling,
  ]);
});

it.each(vectors.filter(({ deployments }) => deployments.every(({ id }) => id !== '__proto__')))(
  'the form is accepted in any order: $name',
  async (vector) => {
    await using service = await startService(toConfiguration(vector));
    const consent = Object.fromEntries(Object.entries(toForm(vector)).reverse());
    expect((await postConsent(service, encodeURIComponent(vector.root), { consent })).json).toEqual({ accepted: true });
    expect((await getConsent(service, encodeURIComponent(vector.root))).json).toEqual({ accepted: true });
  },
);
