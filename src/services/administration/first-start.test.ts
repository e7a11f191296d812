import { describe, expect, it } from 'vitest';
import { FirstStart } from './first-start.ts';

const configuration = {} as never;

function createFirstStart(hasAdministrator = false) {
  const state = { hasAdministrator, exhausted: 0 };
  const firstStart = new FirstStart({
    hasAdministrator: () => state.hasAdministrator,
    newId: () => 'a-b',
    newSecret: () => 's'.repeat(43),
    onExhausted: () => {
      state.exhausted += 1;
    },
  });
  return { state, firstStart };
}

describe('FirstStart', () => {
  it('plans a key with the role admin for its token, as a digest', () => {
    const { firstStart } = createFirstStart();
    const { id, key, plan } = firstStart.createKey(firstStart.offer(configuration) ?? '');
    const [write] = plan({ configuration } as never);
    expect(write).toMatchObject({ kind: 'keys', id, after: { value: { roles: ['default', 'admin'] } } });
    expect(JSON.stringify(write)).not.toContain(key);
  });

  it('offers no token if an administrator exists', () => {
    expect(createFirstStart(true).firstStart.offer(configuration)).toBeUndefined();
  });

  it('waits while its token is valid and no administrator exists', () => {
    const { state, firstStart } = createFirstStart();
    expect(firstStart.isWaiting(configuration)).toBe(false);
    firstStart.offer(configuration);
    expect(firstStart.isWaiting(configuration)).toBe(true);
    state.hasAdministrator = true;
    expect(firstStart.isWaiting(configuration)).toBe(false);
    state.hasAdministrator = false;
    firstStart.end();
    expect(firstStart.isWaiting(configuration)).toBe(false);
  });

  it('rejects the plan and ends the token if an administrator was created meanwhile', () => {
    const { state, firstStart } = createFirstStart();
    const token = firstStart.offer(configuration) ?? '';
    state.hasAdministrator = true;
    expect(() => firstStart.createKey(token).plan({ configuration } as never)).toThrow('An administrator exists');
    expect(() => firstStart.createKey(token)).toThrow('The one-time token is wrong, was already used, or is no longer valid.');
  });

  it('ends the token after 20 wrong tries and reports it once', () => {
    const { state, firstStart } = createFirstStart();
    const token = firstStart.offer(configuration) ?? '';
    for (let tries = 0; tries < 19; tries += 1) expect(() => firstStart.createKey('wrong')).toThrow();
    expect(firstStart.createKey(token).id).toBe('key_ab');
    for (let tries = 0; tries < 3; tries += 1) expect(() => firstStart.createKey('wrong')).toThrow();
    expect(state.exhausted).toBe(1);
    expect(() => firstStart.createKey(token)).toThrow();
  });
});
