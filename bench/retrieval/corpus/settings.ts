/** JSON documents. */
export const settings: Readonly<Record<string, unknown>> = {
  'gateway-settings.json': {
    service: { name: 'edge-gateway', port: 8443, region: 'eu-north-2', owner: 'platform team' },
    timeouts: {
      connect_ms: 2500,
      read_ms: 45_000,
      idle_ms: 90_000,
      note: 'Raised after the outage in spring, since slow suppliers need longer.',
    },
    retries: { attempts: 4, backoff: 'doubling from 200 ms', not_for: ['POST /orders', 'POST /payments'] },
    cache: { size_mb: 512, keep_minutes: 20, never: ['/prices', '/stock'] },
    alerts: [
      { rule: 'error rate above 2 percent', tells: 'on-call', after_minutes: 5 },
      { rule: 'disk above 85 percent', tells: 'platform team', after_minutes: 30 },
      { rule: 'certificate runs out within 21 days', tells: 'security office', after_minutes: 1440 },
    ],
  },
  'api-quotas.json': {
    plans: [
      { plan: 'free', requests_per_minute: 30, storage_gb: 1, support: 'forum' },
      { plan: 'team', requests_per_minute: 600, storage_gb: 50, support: 'mail within a day' },
      { plan: 'enterprise', requests_per_minute: 9000, storage_gb: 2000, support: 'phone around the clock' },
    ],
    overuse: {
      what_happens: 'Requests beyond the quota are answered with status 429 until the next full minute.',
      grace: 'Twice a month a peak of ten minutes is forgiven.',
    },
    uploads: { largest_file_mb: 250, kinds: ['pdf', 'png', 'zip'], virus_scan: true },
  },
  'release-notes.json': {
    releases: [
      {
        version: '7.4.0',
        date: '2026-02-11',
        title: 'Dark colours',
        changes: ['The app follows the colours of the phone.', 'Maps load twice as fast.'],
      },
      {
        version: '7.4.1',
        date: '2026-02-19',
        title: 'Mended crash',
        changes: ['Opening a floor plan without rooms does not crash any more.', 'Known fault KB-5521 is gone.'],
      },
      {
        version: '7.5.0',
        date: '2026-05-06',
        title: 'Schedules',
        changes: ['Devices can be told to pause on public holidays.', 'Times are shown in the zone of the house.'],
      },
      {
        version: '8.0.0',
        date: '2026-09-23',
        title: 'Shared homes',
        changes: [
          'Several people can look after one home; children get buttons but no settings.',
          'Phones with systems older than four years are no longer supported.',
        ],
      },
    ],
  },
  'warehouse-layout.json': {
    halls: {
      'hall 1': { goods: 'packaging', height_m: 6.5, gates: [1, 2], rule: 'no open flames, no chargers' },
      'hall 3': { goods: 'finished machines', height_m: 11, gates: [5, 6, 7], rule: 'stack at most four pallets' },
      'hall 6': { goods: 'cold store for adhesives', height_m: 4, gates: [9], rule: 'keep between 2 and 8 degrees' },
      'hall 8': { goods: 'returns', height_m: 7, gates: [12], rule: 'sort within two days' },
    },
    forklifts: [
      { id: 'FL-31', drive: 'electric', lifts_kg: 1600, hall: 'hall 1' },
      { id: 'FL-44', drive: 'electric', lifts_kg: 2500, hall: 'hall 3' },
      { id: 'FL-52', drive: 'gas', lifts_kg: 5000, hall: 'yard' },
    ],
    emergency: { sprinkler_tank_l: 180_000, exits: 14, meeting_point: 'lawn north of hall 3' },
  },
};
