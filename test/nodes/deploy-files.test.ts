import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { parseArguments } from '#test/command-line.ts';
import { runCommand } from '#test/start-process.ts';
import { openFolder } from '#test/temporary-folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

function read(name: string): Promise<string> {
  return readFile(join(root, 'deploy', name), 'utf8');
}

interface NamedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom: readonly { readonly secretRef: { readonly name: string } }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly startupProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly [string, string] } } };
  readonly volumeMounts: readonly { readonly name: string }[];
}

interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly Secret: NamedObject & { readonly stringData: Readonly<Record<string, string>> };
  readonly ConfigMap: NamedObject & { readonly data: Readonly<Record<string, string>> };
  readonly Deployment: NamedObject & {
    readonly spec: {
      readonly replicas: number;
      readonly selector: LabelSelector;
      readonly template: {
        readonly metadata: { readonly labels: Readonly<Record<string, string>> };
        readonly spec: {
          readonly terminationGracePeriodSeconds: number;
          readonly containers: readonly [Container];
          readonly volumes: readonly { readonly name: string }[];
        };
      };
    };
  };
  readonly Service: NamedObject & {
    readonly spec: {
      readonly selector: LabelSelector['matchLabels'];
      readonly ports: readonly { readonly targetPort: string }[];
    };
  };
  readonly PodDisruptionBudget: NamedObject & {
    readonly spec: { readonly minAvailable: number; readonly selector: LabelSelector };
  };
}

async function readManifest(): Promise<Manifest> {
  const documents = parseAllDocuments(await read('kubernetes.yaml'), { uniqueKeys: true });
  const objects = documents.map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as NamedObject;
  });
  expect(objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
    'v1 Namespace',
    'v1 ServiceAccount',
    'v1 Secret',
    'v1 ConfigMap',
    'apps/v1 Deployment',
    'v1 Service',
    'policy/v1 PodDisruptionBudget',
  ]);
  for (const { kind, metadata } of objects) if (kind !== 'Namespace') expect(metadata.namespace).toBe('parley');
  return Object.fromEntries(objects.map((object) => [object.kind, object])) as unknown as Manifest;
}

describe('Kubernetes manifest', () => {
  it('has consistent labels, ports, probes, volumes, and names', async () => {
    const { ConfigMap, Deployment, PodDisruptionBudget, Secret, Service } = await readManifest();
    const { replicas, selector, template } = Deployment.spec;
    expect(template.metadata.labels).toMatchObject(selector.matchLabels);
    expect(template.metadata.labels).toMatchObject(Service.spec.selector);
    expect(template.metadata.labels).toMatchObject(PodDisruptionBudget.spec.selector.matchLabels);
    expect(PodDisruptionBudget.spec.minAvailable).toBeLessThan(replicas);
    const [container] = template.spec.containers;
    const ports = container.ports.map(({ name }) => name);
    expect(Service.spec.ports.map(({ targetPort }) => targetPort)).toEqual(['http']);
    expect(ports).toContain('http');
    const { livenessProbe, readinessProbe, startupProbe } = container;
    expect([livenessProbe, readinessProbe, startupProbe].map(({ httpGet }) => `${httpGet.path} ${httpGet.port}`)).toEqual([
      '/health http',
      '/ready http',
      '/health http',
    ]);
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(template.spec.volumes.map(({ name }) => name));
    expect(container.envFrom).toEqual([{ secretRef: { name: Secret.metadata.name } }]);
    expect(template.spec.volumes).toContainEqual({ name: 'configuration', configMap: { name: ConfigMap.metadata.name } });
  });

  it('allows a node enough time to shut down', async () => {
    const { spec } = (await readManifest()).Deployment.spec.template;
    const [{ env, lifecycle }] = spec.containers;
    const drainMs = Number(env.find(({ name }) => name === 'PARLEY_DRAIN_MS')?.value);
    const pauseSeconds = Number(lifecycle.preStop.exec.command[1]);
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(pauseSeconds + drainMs / 1000 + 5);
  });

  it('has a configuration and arguments that Parley accepts', async () => {
    const { ConfigMap, Deployment, Secret } = await readManifest();
    await using temporary = await openFolder();
    const { path: folder } = temporary;
    const file = join(folder, 'parley.yaml');
    await writeFile(file, ConfigMap.data['parley.yaml'] ?? '');
    expect(await runCommand(['check', file], Secret.stringData)).toMatchObject({ code: 0, stderr: '' });
    const [{ args }] = Deployment.spec.template.spec.containers;
    expect(parseArguments(args)).toMatchObject({ name: 'serve', flags: { config: ['/etc/parley/parley.yaml'] } });
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
    for (const line of unit.split('\n')) expect(line).toMatch(/^($|#|\[\w+\]$|[A-Z]\w+=)/);
  });
});

describe('Containerfile', () => {
  it('copies only files that exist', async () => {
    const lines = (await read('Containerfile')).split('\n').filter((line) => /^COPY (?!--from)/.test(line));
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) {
      for (const source of line.split(' ').slice(1, -1)) expect((await stat(join(root, source))).size).toBeGreaterThan(0);
    }
  });
});

describe('files of deploy', () => {
  it('only set variables that Parley reads', async () => {
    const known = new Set<string>();
    for (const name of ['src/app/settings.ts', 'src/app/node/open-node.ts'])
      for (const [variable] of (await readFile(join(root, name), 'utf8')).matchAll(/PARLEY_\w+/g)) known.add(variable);
    for (const name of await readdir(join(root, 'deploy')))
      for (const [variable] of (await read(name)).matchAll(/PARLEY_\w+/g))
        expect([name, known.has(variable) ? '' : variable]).toEqual([name, '']);
  });
});
