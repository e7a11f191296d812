import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { checkConfiguration } from '#configuration/check.ts';
import { createConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import { SqlConsentStore } from '#stores/sql/consents/consent-store.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { readSettings } from '../settings.ts';
import { NodeState } from './node-state.ts';
import { openDatabase } from './open-database.ts';

const noFlags = { config: undefined, host: undefined, port: undefined, tlsCert: undefined, tlsKey: undefined };
const largeConsent = { deployment: 'app', form: { ['x'.repeat(100_000)]: { consentRequired: true } }, acceptedAtMs: 1 };

it('reports a database without free space in the log and in health until writes succeed again', async () => {
  await using folder = await openFolder();
  const messages: string[] = [];
  const opened = await openDatabase(readSettings({ ...noFlags, data: folder.path }, {}), {
    note: (message) => messages.push(message),
    reportError: (message, error) => messages.push(`${message}: ${error instanceof Error ? error.message : ''}`),
  });
  const checked = checkConfiguration({});
  if ('errors' in checked) throw new Error('the configuration has errors');
  const snapshot = createConfigSnapshot(checked.configuration);
  const state = new NodeState({ snapshot: () => snapshot, loadBalancer: new LoadBalancer(), clock: systemClock });
  state.setStores({
    shared: opened.shared,
    losses: () => [],
    isWritable: opened.isWritable,
    areFilesElsewhere: () => false,
  });
  const setMaxPages = (pages: number) =>
    opened.database.run((kysely) => sql`pragma max_page_count = ${sql.lit(pages)}`.execute(kysely));
  expect(state.listIssues()).toEqual([]);
  await setMaxPages(1);
  await expect(new SqlConsentStore(opened.database).put('user', largeConsent)).rejects.toThrow(
    /^The store is currently unavailable/,
  );
  await vi.waitFor(() => expect(state.listIssues().map(({ code }) => code)).toEqual(['writes_refused']), 8_000);
  await setMaxPages(1_000_000);
  await vi.waitFor(() => expect(state.listIssues()).toEqual([]), 8_000);
  expect(messages).toEqual([
    'the database in the data folder rejects writes, trying again every second: database or disk is full',
    'the database in the data folder accepts writes again',
  ]);
  await opened.close();
});
