import { expect, it } from 'vitest';
import { findIssues, getSeverity, type NodeState, sortUpstreams, type Upstream } from './node-state.ts';

const upstream = (id: string, fields: Partial<Upstream> = {}): Upstream => ({
  ...{ id, deployment: id, displayName: undefined, protocol: 'openai', origin: '', model: id, tier: 0, weight: 1 },
  ...{ parallel: undefined, maxParallel: undefined, waiting: 0, waitTimeMs: 0 },
  ...{ state: 'ok', failuresInARow: 0, rejectedStatus: undefined, pausedUntilMs: undefined },
  ...fields,
});
const node = (fields: Partial<NodeState> = {}): NodeState => ({
  ...{ version: '', runtime: '', startedAtMs: 0, nowMs: 0, reasons: [], notReadyReasons: [], stores: [], upstreams: [] },
  ...{ files: [], loadedAtMs: 0, rejectedAtMs: undefined, errors: [], warnings: [] },
  ...fields,
});

it('getSeverity returns good only for an upstream without recent problems', () => {
  const cases = [{}, { rejectedStatus: 401 }, { rejectedStatus: 429 }, { failuresInARow: 1 }, { state: 'failing' } as const];
  expect(cases.map((fields) => getSeverity(upstream('a', fields)))).toEqual(['good', 'bad', 'warning', 'warning', 'warning']);
});

it('findIssues returns the severity good only for a node without problems', () => {
  const reason = { code: 'c', message: 'm' };
  expect(findIssues(node({ upstreams: [upstream('a')] })).severity).toBe('good');
  expect(findIssues(node({ upstreams: [upstream('a', { rejectedStatus: 401 })] }))).toMatchObject({
    severity: 'warning',
    upstreamCount: 1,
  });
  expect(findIssues(node({ rejectedAtMs: 1 })).severity).toBe('warning');
  expect(findIssues(node({ stores: [{ content: 'files', kind: 's3', isUnavailable: true }] })).severity).toBe('warning');
  expect(findIssues(node({ reasons: [reason], notReadyReasons: [reason] })).severity).toBe('bad');
});

it('sortUpstreams puts problems first, but keeps the displayed order', () => {
  const all = [upstream('a'), upstream('b', { failuresInARow: 1 }), upstream('c', { rejectedStatus: 403 }), upstream('d')];
  const ids = (previousIds: readonly string[]) =>
    sortUpstreams(all, previousIds)
      .map(({ id }) => id)
      .join('');
  expect([ids([]), ids(['d', 'a', 'b', 'c']), ids(['d', 'a'])]).toEqual(['cbad', 'dabc', 'dacb']);
});
