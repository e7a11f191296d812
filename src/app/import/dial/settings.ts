import type { ForeignObject } from '../foreign-object.ts';

/** What stands for the static settings of DIAL: they are no part of the configuration here. */
const elsewhere = {
  config: null,
  server: 'address and port are --host and --port',
  client: 'connections are looked after by Parley',
  vertx: 'nothing here runs on it',
  redis: 'set PARLEY_REDIS_URL where several nodes share state (docs/deploy.md)',
  storage: 'set PARLEY_FILES_URL, and move the stored files (docs/deploy.md)',
  encryption: 'set PARLEY_SECRET; what DIAL sealed cannot be opened',
  resources: 'stored files have bounds of their own (docs/files.md)',
  invitations: 'nothing is shared here',
  perRequestApiKey: 'a per-request key lives as long as its call',
  access: 'administrators have the role `admin`',
  analytics: 'usage is kept by user, deployment and day (docs/administration.md)',
  toolsets: 'the servers of quick apps are in their `mcp_toolset`',
  apiKeyValidation: 'name your proxies in `security.trustedProxies`',
  asyncTaskExecutor: null,
  identityProviders: null,
};

export function tellSettings(settings: ForeignObject): void {
  settings.leave(elsewhere, 'the settings of DIAL');
}
