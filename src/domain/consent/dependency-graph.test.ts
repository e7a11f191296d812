import { describe, expect, it } from 'vitest';
import { ParleyError } from '#contract/errors/errors.ts';
import vectors from '../../../test/vectors/consent-graphs.json' with { type: 'json' };
import type { Deployment } from '../deployments/deployment.ts';
import { requiresNoConsent, toConsentForm } from './consent.ts';
import { type DependencySource, walkDependencies } from './dependency-graph.ts';

interface DeclaredDeployment {
  readonly id: string;
  readonly dependencies: readonly string[];
  readonly consentRequired?: unknown;
}

function toDeployment({ id, dependencies, consentRequired }: DeclaredDeployment): Deployment {
  return { id, dependencies, features: { consentRequired } } as Partial<Deployment> as Deployment;
}

function createSource(declared: readonly DeclaredDeployment[]): DependencySource & { lookups: string[] } {
  const deployments = new Map(declared.map((each) => [each.id, toDeployment(each)]));
  const lookups: string[] = [];
  return {
    lookups,
    async findAll(ids) {
      lookups.push(...ids);
      return new Map(ids.map((id) => [id, deployments.get(id)]));
    },
    listDependencies: async ({ dependencies }) => dependencies,
  };
}

async function walk(root: string, source: DependencySource) {
  return walkDependencies((await source.findAll([root])).get(root) ?? expect.unreachable(), source);
}

/** Returns a chain in which `n0` depends on `n1`, `n1` depends on `n2`, and so on. */
const createChain = (length: number): DeclaredDeployment[] =>
  Array.from({ length }, (_, index) => ({ id: `n${index}`, dependencies: index + 1 < length ? [`n${index + 1}`] : [] }));

/** Returns a root that depends on all other deployments. */
const createFan = (others: number): DeclaredDeployment[] => {
  const ids = Array.from({ length: others }, (_, index) => `n${index}`);
  return [{ id: 'root', dependencies: ids }, ...ids.map((id) => ({ id, dependencies: ['root'] }))];
};

describe('walkDependencies', () => {
  it.each(vectors)('returns the graph for $name', async ({ root, deployments, form, dangling }) => {
    const graph = await walk(root, createSource(deployments));
    expect(graph.deployments.map(({ id, features }) => [id, features.consentRequired])).toEqual(form);
    expect(graph.dangling).toEqual(dangling.map(([deployment, dependency]) => ({ deployment, dependency })));
    expect(Object.entries(toConsentForm(graph))).toEqual(form.map(([id, consentRequired]) => [id, { consentRequired }]));
  });

  it.each(vectors)('looks up each deployment at most once: $name', async ({ root, deployments }) => {
    const source = createSource(deployments);
    await walkDependencies(toDeployment(deployments.find(({ id }) => id === root) ?? expect.unreachable()), source);
    expect(new Set(source.lookups).size).toBe(source.lookups.length);
    expect(source.lookups).not.toContain(root);
  });

  it.each([
    ['deep', createChain],
    ['wide', (length: number) => createFan(length - 1)],
  ])('accepts 10000 deployments and rejects 10001 if the graph is %s', async (_name, toGraph) => {
    const largestAllowed = toGraph(10_000);
    expect((await walk(largestAllowed[0]?.id ?? '', createSource(largestAllowed))).deployments).toHaveLength(10_000);
    const tooMany = toGraph(10_001);
    const refused = walk(tooMany[0]?.id ?? '', createSource(tooMany));
    await expect(refused).rejects.toMatchObject({ code: 'operation_not_supported', message: expect.stringContaining('10000') });
    await expect(refused).rejects.toBeInstanceOf(ParleyError);
  });

  it('counts dangling IDs, so that missing deployments cannot cause unlimited lookups', async () => {
    const source = createSource([{ id: 'root', dependencies: Array.from({ length: 20_000 }, (_, index) => `gone${index}`) }]);
    await expect(walk('root', source)).rejects.toMatchObject({ code: 'operation_not_supported' });
    expect(source.lookups).toEqual(['root']);
  });
});

describe('consent forms', () => {
  it.each([undefined, 'true', 1, null])('treat %j as no requirement, because only true requires consent', (consentRequired) => {
    const form = toConsentForm({ deployments: [toDeployment({ id: 'a', dependencies: [], consentRequired })] });
    expect(form).toEqual({ a: { consentRequired: false } });
    expect(requiresNoConsent(form)).toBe(true);
  });

  it('require no consent if no deployment in them requires it', () => {
    expect(requiresNoConsent({})).toBe(true);
    expect(requiresNoConsent({ a: { consentRequired: false }, b: { consentRequired: true } })).toBe(false);
  });
});
