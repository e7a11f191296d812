import { describe, expect, it } from 'vitest';
import { mergeTags } from './tags.ts';

const merge = (header: string | undefined, sources: object = {}) =>
  mergeTags({ header, project: undefined, inherited: undefined, ...sources });

describe('mergeTags', () => {
  it('reads a list of names and values', () => {
    expect({ ...merge('team=search, env=a=b ,empty=') }).toEqual({ team: 'search', env: 'a=b', empty: '' });
    expect(merge(undefined)).toBeUndefined();
    expect(merge('')).toBeUndefined();
  });

  it.each([
    ['team', 'must be a list'],
    ['=x', 'must be a list'],
    ['__proto__=x', 'must be a list'],
    ['a=b,', 'must be a list'],
    ['a b=c', 'must be a list'],
    ['a=\u00e9', 'must be a list'],
    [`${'n'.repeat(65)}=v`, 'at most 64'],
    [`n=${'v'.repeat(65)}`, 'at most 64'],
    ['a=1,a=2', 'has the tag a twice'],
    [Array.from({ length: 17 }, (_, index) => `t${index}=v`).join(), 'can have at most 16 tags'],
  ])('rejects %s', (header, message) => {
    expect(() => merge(header)).toThrow(`x-parley-tags`);
    expect(() => merge(header)).toThrow(message);
  });

  it('prefers the tags of the call chain to the tags of the request, and these to the tags of the project', () => {
    const project = { team: 'search', env: 'prod' };
    expect(merge(undefined, { project })).toEqual(project);
    expect(merge('env=test', { project })).toEqual({ team: 'search', env: 'test' });
    expect(merge('env=test,step=2', { project, inherited: { env: 'root' } })).toEqual({ team: 'search', env: 'root', step: '2' });
    expect(merge(undefined, { project, inherited: { env: 'root' } })).toEqual({ env: 'root' });
  });

  it('rejects more than 32 tags, including the tags of the call chain', () => {
    const inherited = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`t${index}`, 'v']));
    expect(() => merge('one=more', { inherited })).toThrow('at most 32 tags');
  });
});
