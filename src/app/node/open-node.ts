import { Caches } from '#base/cache/bounded-cache.ts';
import { parseJson } from '#base/json/json.ts';
import { systemClock } from '#base/time/clock.ts';
import { checkConfiguration, type ValidConfiguration } from '#configuration/check.ts';
import { formatConfigurationError } from '#configuration/configuration-error.ts';
import { LiveConfig } from '#configuration/live-config.ts';
import type { Environment } from '#configuration/substitute.ts';
import { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import type { RecordAudit } from '#domain/usage/journal.ts';
import { openJournal } from '#telemetry/journal/open-journal.ts';
import type { Log } from '#telemetry/log.ts';
import { type NodeTelemetry, openTelemetry } from '#telemetry/node-telemetry.ts';
import { openLog } from '#telemetry/open-log.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import type { CloseStages } from '../process/drain.ts';
import { type Settings, secretsIn } from '../settings.ts';
import { NodeState } from './node-state.ts';
import { openStores, type Stores } from './open-stores.ts';

const clock = systemClock;
const sealPurpose = 'configuration notice';
const minSecretLength = 32;

/** Dependencies of a node that exist before the service is composed. */
export interface NodeDeps {
  readonly settings: Settings;
  readonly snapshot: LiveConfig;
  readonly loadBalancer: LoadBalancer;
  readonly caches: Caches;
  readonly state: NodeState;
  readonly stores: Stores;
  readonly telemetry: NodeTelemetry;
  readonly log: Log;
  readonly recordAudit: RecordAudit;
  /** Activates a configuration. */
  readonly put: (accepted: ValidConfiguration) => void;
  /** Publishes a reloaded configuration to the other nodes. */
  readonly publish: (accepted: ValidConfiguration) => void;
  /** Resources to close after the service has stopped: pending records, stores, and the log. */
  readonly closing: CloseStages;
}

/** Opens the dependencies of a node. Throws SettingError. */
export async function openNode(settings: Settings, environment: Environment, accepted: ValidConfiguration): Promise<NodeDeps> {
  const snapshot = new LiveConfig(accepted.configuration);
  const loadBalancer = new LoadBalancer();
  const caches = new Caches();
  const state = new NodeState({ snapshot: snapshot.current, loadBalancer, clock });
  const { log, lines } = openLog(settings.logLevel, () => [...snapshot.secrets(), ...secretsIn(settings)]);
  const reportError = (message: string, error: unknown): void => log.error(message, error);
  const note = (message: string): void => log.info(message);
  for (const warning of listWarnings(settings)) log.warn(warning);
  const stores = await openStores(settings, { clock, caches, note, reportError });
  const {
    listener,
    recordAudit,
    losses,
    close: closeJournal,
  } = openJournal({ journal: stores.journal, clock, note, reportError });
  state.storesOpened({
    shared: stores.shared,
    losses,
    isWritable: stores.isWritable,
    areFilesElsewhere: stores.areFilesElsewhere,
  });
  const telemetry = await openTelemetry({
    env: environment,
    clock,
    caches,
    log,
    lines,
    listeners: [listener],
    live: { upstreams: () => state.upstreams(), configurationFaults: () => state.configurationFaults },
    version: packageJson.version,
    secret: stores.seal.sign('users', 'pseudonyms of the log'),
  });
  const put = createPut({ snapshot, state, telemetry, log, recordAudit });
  put(accepted);
  const publish = shareConfiguration({ stores, put, log, snapshot });
  const closing = [[telemetry, { close: closeJournal }], [stores], [lines]];
  return { settings, snapshot, loadBalancer, caches, state, stores, telemetry, log, recordAudit, put, publish, closing };
}

/** Returns warnings about valid settings that are probably mistakes. */
function* listWarnings({ secrets, shared }: Settings): Iterable<string> {
  if (secrets.some((secret) => secret.reveal().length < minSecretLength))
    yield `PARLEY_SECRET is shorter than ${minSecretLength} characters. Use a long random secret, for example the output of "openssl rand -base64 32"`;
  if (shared.redisUrl !== undefined && shared.databaseUrl === undefined)
    yield 'PARLEY_REDIS_URL is set but PARLEY_DATABASE_URL is not: nodes do not share consents and applications';
  if (shared.redisUrl !== undefined && shared.files === undefined)
    yield 'PARLEY_REDIS_URL is set but PARLEY_FILES_URL is not: nodes do not share the contents of stored files';
}

type PutDeps = Pick<NodeDeps, 'snapshot' | 'state' | 'telemetry' | 'log' | 'recordAudit'>;

function createPut({ snapshot, state, telemetry, log, recordAudit }: PutDeps): NodeDeps['put'] {
  return ({ configuration, warnings }) => {
    const { aliases } = snapshot.current().configuration;
    if (JSON.stringify(aliases) !== JSON.stringify(configuration.aliases))
      log.warn('changed aliases take effect after a restart');
    snapshot.replace(configuration);
    telemetry.configure(snapshot.current().deployments.values());
    state.configurationAccepted(warnings);
    recordAudit({ action: 'configuration.loaded', subject: undefined, object: undefined });
    for (const warning of warnings) log.warn(`configuration: ${formatConfigurationError(warning)}`);
  };
}

/**
 * Applies configurations that other nodes publish. Returns a function that publishes a reloaded configuration to the other nodes,
 * encrypted with the seal.
 */
function shareConfiguration({
  stores,
  put,
  log,
  snapshot,
}: Pick<NodeDeps, 'stores' | 'put' | 'log' | 'snapshot'>): NodeDeps['publish'] {
  const { broadcast, seal } = stores;
  if (broadcast === undefined) return () => undefined;
  broadcast.onNotice(({ topic, text }) => {
    if (topic !== 'configuration') return;
    try {
      const configurationText = seal.open(text, sealPurpose);
      if (configurationText === JSON.stringify(snapshot.current().configuration)) return;
      const checked = checkConfiguration(parseJson(configurationText));
      if ('errors' in checked) {
        for (const error of checked.errors)
          log.error(`rejected the configuration of another node: ${formatConfigurationError(error)}`, undefined);
        return;
      }
      put(checked);
      log.info('applied the configuration of another node');
    } catch (error) {
      log.error('cannot read the configuration of another node', error);
    }
  });
  return ({ configuration }) => {
    const text = seal.seal(JSON.stringify(configuration), sealPurpose);
    broadcast
      .publish({ topic: 'configuration', text })
      .catch((error) => log.error('other nodes receive the new configuration when Redis is reachable again', error));
  };
}
