import { afterEach, describe, expect, it, vi } from 'vitest';
import { Pattern, PatternError } from '#base/text/patterns.ts';
import type { Condition } from '#contract/quick-app/conditions.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { DeploymentFilter } from './deployment-filter.ts';

const toDeployment = (id: string, description = ''): Deployment =>
  ({ id, description, kind: 'model' }) as Partial<Deployment> as Deployment;
const match = (expression: string): Condition => ({ condition_type: 'match', property_name: 'description', expression });

afterEach(() => void vi.restoreAllMocks());

describe('DeploymentFilter', () => {
  it('returns the deployments that meet all conditions of one entry', () => {
    const filter = new DeploymentFilter([[match('a'), match('b')], [match('c')]]);
    const deployments = [toDeployment('1', 'a'), toDeployment('2', 'ab'), toDeployment('3', 'c')];
    expect(filter.find(deployments).map(({ id }) => id)).toEqual(['2', '3']);
  });

  it('compiles its expressions once and matches each deployment once', () => {
    const compile = vi.spyOn(Pattern.run, 'compile');
    const isFound = vi.spyOn(Pattern.run, 'isFound');
    const filter = new DeploymentFilter([[match('a')], [match('b')]]);
    const deployments = [toDeployment('1', 'a'), toDeployment('2', 'c')];
    for (let call = 0; call < 10; call += 1) filter.find(deployments);
    expect([compile.mock.calls.length, isFound.mock.calls.length]).toEqual([2, 3]);
    filter.find([...deployments, toDeployment('3', 'a')]);
    expect([compile.mock.calls.length, isFound.mock.calls.length]).toEqual([2, 4]);
  });

  it('rejects one call if a deployment takes too long, and resumes after that deployment on the next call', () => {
    const deployments = [toDeployment('1', 'x'), toDeployment('2', 'y')];
    const filter = new DeploymentFilter([[match('x|y')]]);
    vi.spyOn(Pattern.run, 'isFound').mockImplementationOnce(() => {
      throw new PatternError('it takes longer than 250 ms');
    });
    expect(() => filter.find(deployments)).toThrow('it takes longer than 250 ms');
    expect(filter.find(deployments).map(({ id }) => id)).toEqual(['2']);
  });
});
