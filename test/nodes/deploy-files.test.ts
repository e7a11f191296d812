import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { hello, plainReply } from '#test/chunks.ts';
import { parseArguments } from '#test/command-line.ts';
import { eventsReply, silence, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { runCommand, startProcess } from '#test/start-process.ts';
import packageJson from '../../package.json' with { type: 'json' };
import schemas from '../fixtures/kubernetes/schemas.json' with { type: 'json' };

const root = fileURLToPath(new URL('../../', import.meta.url));
const chart = join(root, 'deploy/helm');

function read(name: string): Promise<string> {
  return readFile(join(root, 'deploy', name), 'utf8');
}

/** Returns the environment variables that Parley reads. */
async function listVariables(): Promise<ReadonlySet<string>> {
  const sources = ['settings.ts', 'node/open-node.ts'].map((name) => readFile(join(root, 'src/app', name), 'utf8'));
  return new Set([...(await Promise.all(sources)).join().matchAll(/PARLEY_\w+/g)].map(([name]) => name));
}

interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: Readonly<Record<string, string>> };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly image: string;
  readonly args?: readonly string[];
  readonly ports: readonly { readonly name: string }[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly startupProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly volumeMounts: readonly { readonly name: string }[];
}

interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
}

/** Objects of the chart by kind. The test knows which ones a case renders. */
interface Manifest {
  readonly ConfigMap: KubernetesObject & { readonly data: { readonly 'parley.yaml': string } };
  readonly Deployment: KubernetesObject & {
    readonly spec: {
      readonly strategy: { readonly type: string };
      readonly selector: LabelSelector;
      readonly template: {
        readonly metadata: { readonly labels: Readonly<Record<string, string>> };
        readonly spec: {
          readonly serviceAccountName: string;
          readonly terminationGracePeriodSeconds: number;
          readonly securityContext: object;
          readonly containers: readonly [Container];
          readonly volumes: readonly { readonly name: string }[];
        };
      };
    };
  };
  readonly Ingress: KubernetesObject & {
    readonly spec: { readonly rules: readonly [{ readonly http: { readonly paths: readonly [{ readonly backend: object }] } }] };
  };
  readonly PersistentVolumeClaim: KubernetesObject;
  readonly PodDisruptionBudget: KubernetesObject & { readonly spec: { readonly selector: LabelSelector } };
  readonly ScaledObject: KubernetesObject & {
    readonly spec: {
      readonly scaleTargetRef: { readonly name: string };
      readonly triggers: readonly { readonly metadata: { readonly query: string; readonly threshold: string } }[];
    };
  };
  readonly Service: KubernetesObject & {
    readonly spec: {
      readonly selector: LabelSelector['matchLabels'];
      readonly ports: readonly { readonly name: string; readonly targetPort: string }[];
    };
  };
  readonly ServiceAccount: KubernetesObject;
}

/** Formats that JSON Schema does not define. */
const ajv = new Ajv2020({ strictTypes: false, formats: { byte: true, 'date-time': true, int32: true, int64: true } });
ajv.addSchema(schemas, 'kubernetes');

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const strict = (properties: Readonly<Record<string, object>>, ...required: readonly string[]) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});
const scaling = strict({
  stabilizationWindowSeconds: count,
  policies: {
    type: 'array',
    items: strict({ type: { enum: ['Pods', 'Percent'] }, value: count, periodSeconds: count }, 'type', 'value', 'periodSeconds'),
  },
});
const autoscaler = strict({ behavior: strict({ scaleDown: scaling, scaleUp: scaling }) });
const trigger = strict(
  {
    type: { const: 'prometheus' },
    metricType: { enum: ['AverageValue', 'Value'] },
    metadata: strict(
      { serverAddress: { ...text, pattern: '^https?://' }, query: text, threshold: text },
      'serverAddress',
      'query',
      'threshold',
    ),
  },
  'type',
  'metadata',
);
/** The fields of KEDA 2 that the chart may use (https://keda.sh/docs/latest/reference/scaledobject-spec/). */
const isScaledObject = ajv.compile(
  strict(
    {
      apiVersion: { const: 'keda.sh/v1alpha1' },
      kind: { const: 'ScaledObject' },
      metadata: { type: 'object' },
      spec: strict(
        {
          scaleTargetRef: strict({ name: text }, 'name'),
          minReplicaCount: count,
          maxReplicaCount: count,
          pollingInterval: count,
          advanced: strict({ horizontalPodAutoscalerConfig: autoscaler }),
          triggers: { type: 'array', minItems: 1, items: trigger },
        },
        'scaleTargetRef',
        'triggers',
      ),
    },
    'apiVersion',
    'kind',
    'metadata',
    'spec',
  ),
);

/** Runs Helm of the PATH, or the one that scripts/install-test-servers.ts installs. */
function runHelm(command: string, values: object, ...args: readonly string[]) {
  const PATH = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  const input = JSON.stringify(values);
  const options = { input, encoding: 'utf8', env: { PATH, HOME: '/nonexistent' } } as const;
  const { error, status: code, stdout, stderr } = spawnSync('helm', [command, ...args, chart, '--values', '-'], options);
  if (error !== undefined) throw error;
  return { code, stdout, stderr };
}

/** Renders the chart and validates each object against the strict schemas of Kubernetes. */
function render(values: object): Manifest {
  const { code, stdout, stderr } = runHelm('template', values, '--namespace', 'chat', 'gateway');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const objects = parseAllDocuments(stdout, { uniqueKeys: true }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as KubernetesObject;
  });
  for (const object of objects) expect([object.kind, validate(object)]).toEqual([object.kind, []]);
  return Object.fromEntries(objects.map((object) => [object.kind, object])) as unknown as Manifest;
}

function validate(object: KubernetesObject): readonly string[] {
  const type = encodeURIComponent(`${object.apiVersion} ${object.kind}`.replaceAll('/', '~1'));
  const isValid = object.kind === 'ScaledObject' ? isScaledObject : ajv.getSchema(`kubernetes#/$defs/${type}`);
  if (isValid === undefined) return [`no schema for ${object.apiVersion} ${object.kind}`];
  return isValid(object) === true ? [] : (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const configuration = `models:
  gpt:
    upstreams:
      - endpoint: https://api.openai.com/v1
        key: \${OPENAI_API_KEY}
roles:
  default:
    limits: { "*": { day: 123456789 } }
`;
const severalNodes = { configuration, secretName: 'parley' };
const oneNode = { persistence: { enabled: true, storageClassName: 'fast' }, replicas: 1 };
const prometheusAddress = 'http://prometheus.monitoring:9090';
const autoscaled = { ...severalNodes, autoscaling: { enabled: true, prometheusAddress, waitingCalls: '10' } };
const everything = {
  ...severalNodes,
  image: { repository: 'registry.example/parley', tag: '1.2.3', pullSecrets: [{ name: 'registry' }] },
  env: [{ name: 'LOG_LEVEL', value: 'debug' }],
  service: { type: 'LoadBalancer', annotations: { 'example.com/internal': 'true' } },
  ingress: { enabled: true, className: 'nginx', host: 'chat.example', tlsSecretName: 'chat-tls', annotations: { a: 'b' } },
  serviceAccount: { annotations: { 'example.com/role': 'files' } },
  podLabels: { team: 'platform' },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'gateway', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
};

describe('Helm chart', () => {
  it('passes helm lint', () => {
    expect(runHelm('lint', severalNodes, '--strict')).toMatchObject({ code: 0 });
  });

  it.each([
    ['several nodes', severalNodes, ['ConfigMap', 'Deployment', 'PodDisruptionBudget', 'Service', 'ServiceAccount']],
    ['one node with a volume', oneNode, ['Deployment', 'PersistentVolumeClaim', 'Service', 'ServiceAccount']],
    [
      'nodes that KEDA scales',
      autoscaled,
      ['ConfigMap', 'Deployment', 'PodDisruptionBudget', 'ScaledObject', 'Service', 'ServiceAccount'],
    ],
    ['every value', everything, ['ConfigMap', 'Deployment', 'Ingress', 'PodDisruptionBudget', 'Service', 'ServiceAccount']],
  ])('renders consistent objects that Kubernetes accepts, for %s', (_, values, kinds) => {
    const manifest = render(values);
    expect(Object.keys(manifest).sort()).toEqual(kinds);
    const { metadata, spec } = manifest.Deployment;
    for (const object of Object.values(manifest) as readonly KubernetesObject[])
      expect(object.metadata).toMatchObject({ name: 'gateway', namespace: 'chat', labels: metadata.labels });
    const { labels } = spec.template.metadata;
    const budget = manifest.PodDisruptionBudget?.spec.selector.matchLabels ?? {};
    for (const selector of [spec.selector.matchLabels, manifest.Service.spec.selector, budget])
      expect(labels).toMatchObject(selector);
    const { containers, volumes, serviceAccountName } = spec.template.spec;
    expect(serviceAccountName).toBe(manifest.ServiceAccount.metadata.name);
    const [container] = containers;
    expect(container.ports.map(({ name }) => name)).toEqual(['http', 'metrics']);
    expect(manifest.Service.spec.ports).toMatchObject([{ name: 'http', targetPort: 'http' }]);
    const probes = [container.livenessProbe, container.readinessProbe, container.startupProbe];
    expect(probes.map(({ httpGet }) => `${httpGet.path} ${httpGet.port}`)).toEqual([
      '/health http',
      '/ready http',
      '/health http',
    ]);
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name));
    expect(parseArguments(container.args ?? ['serve'])).toMatchObject({ name: 'serve' });
  });

  it('uses the Secret, the ConfigMap, and the volume', () => {
    const shared = render(severalNodes).Deployment.spec;
    const [container] = shared.template.spec.containers;
    expect(shared.strategy.type).toBe('RollingUpdate');
    expect(container).toMatchObject({ envFrom: [{ secretRef: { name: 'parley' } }], image: `parley:${packageJson.version}` });
    expect(parseArguments(container.args ?? [])).toMatchObject({ flags: { config: ['/etc/parley/parley.yaml'] } });
    expect(shared.template.spec.volumes).toContainEqual({ name: 'configuration', configMap: { name: 'gateway' } });
    const single = render(oneNode).Deployment.spec;
    expect(single.strategy.type).toBe('Recreate');
    expect(single.template.spec.volumes).toContainEqual({ name: 'data', persistentVolumeClaim: { claimName: 'gateway' } });
  });

  it('passes the configuration unchanged', () => {
    expect(render(severalNodes).ConfigMap.data['parley.yaml']).toBe(configuration);
  });

  it('routes the ingress to the service', () => {
    const { Ingress, Service } = render(everything);
    const backend = { service: { name: Service.metadata.name, port: { name: 'http' } } };
    expect(Ingress.spec.rules[0].http.paths).toMatchObject([{ path: '/', backend }]);
  });

  it('meets the restricted Pod Security Standard', () => {
    const { containers, securityContext } = render(severalNodes).Deployment.spec.template.spec;
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } });
    const restricted = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
    expect(containers).toMatchObject([{ securityContext: restricted }]);
  });

  it('allows a node enough time to shut down', () => {
    const { spec } = render({ ...severalNodes, drainSeconds: 100 }).Deployment.spec.template;
    const [{ env, lifecycle }] = spec.containers;
    const drainMs = Number(env.find(({ name }) => name === 'PARLEY_DRAIN_MS')?.value);
    expect(drainMs).toBe(100_000);
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(lifecycle.preStop.sleep.seconds + drainMs / 1000 + 5);
  });

  it('scales the nodes by metrics that Parley exports', async () => {
    const { Deployment, ScaledObject } = render(autoscaled);
    expect(ScaledObject.spec.scaleTargetRef.name).toBe(Deployment.metadata.name);
    expect(Deployment.spec).not.toHaveProperty('replicas');
    const upstream = await startScriptedUpstream(eventsReply(...plainReply('hi')), silence);
    await using _close = upstream;
    const models = { m: { upstreams: [{ endpoint: upstream.endpoint, maxParallel: 1 }] } };
    await using node = await startProcess({ configuration: { models } });
    await (await node.stream('m', { messages: hello })).readRest();
    const waiting = [1, 2].map(() => node.stream('m', { messages: hello }).catch(() => undefined));
    await vi.waitFor(async () => {
      const { text: metrics } = await node.sendRequest({ method: 'GET', path: '/metrics' });
      for (const { metadata } of ScaledObject.spec.triggers) {
        const [, name = '', labels] = /sum\((\w+)\{(.*)\}\)/.exec(metadata.query) ?? [];
        expect(metrics).toMatch(new RegExp(`^${name}(\\{|\\s)`, 'm'));
        expect(labels).toBe('namespace="chat",pod=~"gateway-.+"');
      }
    }, 10_000);
    node.kill('SIGKILL');
    await Promise.all(waiting);
  });

  it('accepts thresholds of the autoscaler as numbers, as --set passes them', () => {
    const numbers = { eventLoopUtilization: 0.5, openStreams: 100, waitingCalls: 10 };
    const { triggers } = render({ ...autoscaled, autoscaling: { ...autoscaled.autoscaling, ...numbers } }).ScaledObject.spec;
    expect(triggers.map(({ metadata }) => metadata.threshold)).toEqual(['0.5', '100', '10']);
  });

  it('lets a stream finish that takes longer than the pause before SIGTERM, when an autoscaler removes its pod', async () => {
    const { spec } = render({ ...autoscaled, drainSeconds: 20 }).Deployment.spec.template;
    const environment = Object.fromEntries(spec.containers[0].env.map(({ name, value }) => [name, value]));
    const end = Promise.withResolvers<void>();
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.head();
      const [first, ...rest] = plainReply('one', 'two');
      await exchange.events(first as object);
      await end.promise;
      await exchange.events(...rest);
      exchange.done();
    });
    const models = { m: { upstreams: [{ endpoint: upstream.endpoint }] } };
    const { PARLEY_DRAIN_MS = '' } = environment;
    await using node = await startProcess({ configuration: { models }, environment: { PARLEY_DRAIN_MS } });
    const reader = await node.stream('m', { messages: hello });
    await reader.next();
    node.kill('SIGTERM');
    await node.untilOutput(/"msg":"stopping"/);
    await expect(node.stream('m', { messages: hello })).rejects.toThrow();
    end.resolve();
    expect((await reader.readRest()).isDone).toBe(true);
    expect((await node.ended).code).toBe(0);
  });

  it.each([
    ['an autoscaler without Prometheus', { ...severalNodes, autoscaling: { enabled: true } }, '/autoscaling/prometheusAddress'],
    ['an autoscaler for one volume', { ...oneNode, autoscaling: autoscaled.autoscaling }, '/autoscaling/enabled'],
    ['several nodes without a Secret', {}, '/secretName'],
    ['several nodes with one volume', { ...oneNode, replicas: 2 }, '/replicas'],
    ['an unknown value', { ...severalNodes, replicaCount: 2 }, 'replicaCount'],
    ['a wrong type', { ...severalNodes, configuration: { models: {} } }, '/configuration'],
    ['an ingress without a host', { ...severalNodes, ingress: { enabled: true } }, '/ingress/host'],
  ])('rejects %s', (_, values, path) => {
    const { code, stderr } = runHelm('template', values, 'gateway');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(path) });
  });
});

describe('Compose file', () => {
  interface Service {
    readonly image: string;
    readonly command: readonly string[];
    readonly environment: Readonly<Record<string, string>>;
  }

  it('has identical nodes with known settings and a trusted load balancer', async () => {
    const { services, networks } = parse(await read('compose/compose.yaml'), { merge: true }) as {
      services: Readonly<Record<string, Service>>;
      networks: { default: { ipam: { config: readonly [{ subnet: string }] } } };
    };
    const nodes = Object.entries(services).filter(([name]) => name.startsWith('node-'));
    expect(nodes).toHaveLength(3);
    const balancer = await read('compose/nginx.conf');
    for (const [name, node] of nodes) {
      expect(node).toEqual(services['node-1']);
      expect(node.image).toBe(`parley:${packageJson.version}`);
      expect(balancer).toContain(`server ${name}:8080;`);
      expect(parseArguments(node.command)).toMatchObject({ name: 'serve', flags: { config: ['/etc/parley/parley.yaml'] } });
    }
    const { security } = parse(await read('compose/parley.yaml')) as { security: object };
    expect(security).toEqual({ trustedProxies: [networks.default.ipam.config[0].subnet] });
  });

  it('has a configuration that Parley accepts', async () => {
    const file = join(root, 'deploy/compose/parley.yaml');
    expect(await runCommand(['check', file], { PARLEY_KEY: 'key' })).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('systemd unit', () => {
  it('starts Parley with valid flags and waits for the drain', async () => {
    const unit = await read('parley.service');
    const [, line = ''] = /^ExecStart=\/opt\/parley\/bin\/parley (.+)$/m.exec(unit) ?? [];
    expect(parseArguments(line.split(' '))).toMatchObject({ name: 'serve', flags: { data: '/var/lib/parley' } });
    const [, drainMs] = /^PARLEY_DRAIN_MS=(\d+)$/m.exec(await read('parley.env.example')) ?? [];
    const [, stopSeconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
    expect(Number(stopSeconds)).toBeGreaterThan(Number(drainMs) / 1000 + 5);
    expect(unit).toMatch(/^ExecReload=\/bin\/kill -HUP \$MAINPID$/m);
    for (const text of [unit, await read('Containerfile')]) expect(text).toMatch(/^E[Nn][Vv].*PARLEY_WORKERS=auto$/m);
    for (const line of unit.split('\n')) expect(line).toMatch(/^($|#|\[\w+\]$|[A-Z]\w+=)/);
  });
});

describe('files for deployment', () => {
  it('only set variables that Parley reads', async () => {
    const known = await listVariables();
    const files = globSync('**/*.*', { cwd: join(root, 'deploy') });
    expect(files.length).toBeGreaterThan(10);
    // The configuration of the Compose file uses PARLEY_KEY.
    for (const name of files)
      for (const [variable] of (await read(name)).matchAll(/PARLEY_\w+/g))
        expect([name, known.has(variable) || variable === 'PARLEY_KEY' ? '' : variable]).toEqual([name, '']);
  });

  it('have the version of the package', async () => {
    const { version, appVersion } = parse(await read('helm/Chart.yaml')) as { version: string; appVersion: string };
    expect([version, appVersion]).toEqual([packageJson.version, packageJson.version]);
    for (const name of ['compose/compose.yaml', '../docs/deploy.md'])
      expect(await read(name)).toContain(`release/parley-${packageJson.version}-image.tar`);
  });
});
