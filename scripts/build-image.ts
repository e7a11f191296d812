import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import packageJson from '../package.json' with { type: 'json' };

const help = `Builds the container image for the architecture of this machine, without a container engine.

  node scripts/build-image.ts [--output FILE]     default: release/parley-VERSION-image.tar

The file is a tar with an OCI layout, for docker load, podman load, and skopeo. Before the script ends, it starts the image as the user
of the image, and sends calls. The script needs root on Debian, and these packages:
apt-get install binutils buildah debian-archive-keyring mmdebstrap`;

const maxBytes = 250e6;

/** Libraries that Node links, and a shell for bin/parley. Certificates and time zones are part of Node. */
const debianPackages = ['base-files', 'busybox', 'libatomic1', 'libc6', 'libgcc-s1', 'libstdc++6'];

/** Programs of BusyBox that are linked by name. */
const applets = ['cat', 'dirname', 'env', 'id', 'ls', 'readlink', 'sh', 'sleep', 'test', 'wget'];

/** Files of the Debian packages that Parley does not read. The copyright files stay. */
const unusedDebianFiles = ['usr/lib/*/gconv', 'usr/share/{bug,gcc,info,lintian,locale,man}', 'usr/share/doc/*/!(copyright)'];

/** Files of the npm packages that Parley does not load. */
const unusedPackageFiles = ['node-linux-*/{include,share}', 'gpt-tokenizer/{cjs,data,dist,src}', '@e965/xlsx/dist'];
const unusedFileTypes = '**/*.{cts,flow,map,md,mts,ts}';

/** Writes the database of installed packages, which vulnerability scanners read. */
const recordPackages = `for deb in "$1"/var/cache/apt/archives/*.deb; do
  dpkg-deb --field "$deb" && printf 'Status: install ok installed\\n\\n'
done > "$1/var/lib/dpkg/status"`;

const checkout = fileURLToPath(new URL('..', import.meta.url));

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { cwd: checkout, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

function removeFiles(folder: string, patterns: readonly string[]): void {
  for (const path of globSync(patterns, { cwd: folder })) rmSync(join(folder, path), { recursive: true, force: true });
}

/** Writes the files of the Debian packages. apt verifies their signatures. Their install scripts do not run. */
function writeBase(base: string): void {
  const include = `--include=${debianPackages.join()}`;
  run('mmdebstrap', '--quiet', '--variant=extract', include, `--extract-hook=${recordPackages}`, 'trixie', base);
  removeFiles(base, unusedDebianFiles);
  for (const applet of applets) symlinkSync('busybox', join(base, 'usr/bin', applet));
  writeFileSync(
    join(base, 'etc/passwd'),
    'root:x:0:0:root:/root:/bin/sh\nparley:x:10001:10001::/nonexistent:/usr/sbin/nologin\n',
  );
  writeFileSync(join(base, 'etc/group'), 'root:x:0:\nparley:x:10001:\n');
  run('chmod', '--recursive', 'u=rwX,go=rX', base);
  run('chmod', '1777', join(base, 'tmp'));
}

/** Writes the files of the npm package, and the packages of the lockfile. */
function writeApp(app: string, packages: string): void {
  mkdirSync(app);
  run('npm', 'pack', '--silent', '--pack-destination', dirname(app));
  run('tar', '-x', '--strip-components=1', '-C', app, '-f', join(dirname(app), `parley-${packageJson.version}.tgz`));
  cpSync(join(checkout, 'package-lock.json'), join(app, 'package-lock.json'));
  run('npm', 'ci', '--omit=dev', '--ignore-scripts', '--prefix', app);
  renameSync(join(app, 'node_modules'), packages);
  removeFiles(packages, unusedPackageFiles);
  const files = globSync(unusedFileTypes, { cwd: packages, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { parentPath, name } of files) rmSync(join(parentPath, name));
  for (const node of globSync('node-linux-*/bin/node', { cwd: packages })) run('strip', join(packages, node));
  run('chmod', '--recursive', 'u=rwX,go=rX', app, packages);
}

/**
 * Adds the index of `docker save` to an OCI layout, because Docker without its containerd store can read only this index. Returns
 * the uncompressed size of the layers.
 */
function addDockerIndex(layout: string, name: string): number {
  const read = (path: string) => JSON.parse(readFileSync(join(layout, path), 'utf8'));
  const toPath = ({ digest }: { readonly digest: string }): string => `blobs/${digest.replace(':', '/')}`;
  const { config, layers } = read(toPath(read('index.json').manifests[0]));
  const paths: readonly string[] = layers.map(toPath);
  writeFileSync(join(layout, 'manifest.json'), JSON.stringify([{ Config: toPath(config), RepoTags: [name], Layers: paths }]));
  return paths.reduce((sum, path) => sum + gunzipSync(readFileSync(join(layout, path))).length, 0);
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Returns the demo key when the service listens. */
async function readKey(service: ChildProcessByStdio<null, Readable, Readable>): Promise<string> {
  let errors = '';
  service.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  for await (const line of createInterface(service.stdout)) {
    const [, key] = /#key=(\S+)/.exec(line) ?? [];
    if (key !== undefined) return key;
  }
  throw new Error(`The service ended before it listened: ${errors}`);
}

/** Imports all npm packages that the files of `dist` import. */
const importPackages = `import { globSync, readFileSync } from 'node:fs';
const names = new Set();
for (const file of globSync('dist/*.js'))
  for (const [, name] of readFileSync(file, 'utf8').matchAll(/(?:^(?:import|export) .*from |^import |\\bimport\\()"([@a-z][^":]*)"/gm)) names.add(name);
for (const name of names) await import(name);
console.log(names.size);`;

async function callApi(url: string, key: string, body: object): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${text}`);
  return text;
}

/** Starts the image in a chroot, as its user, and calls it. Throws if a result is wrong. */
async function verifyImage(archive: string, buildah: readonly string[]): Promise<void> {
  const container = run('buildah', ...buildah, 'from', '--quiet', `oci-archive:${archive}`);
  const port = await findFreePort();
  const environment = [`--env=PARLEY_PORT=${port}`, '--env=PARLEY_HOST=127.0.0.1'];
  const enter = [...buildah, 'run', '--isolation=chroot', ...environment, container, '--'];
  console.log(`user: ${run('buildah', ...enter, 'id')}`);
  run('buildah', ...enter, 'sh', '-c', 'test ! -w /opt/parley && test -w /data');
  console.log(
    `npm packages: ${run('buildah', ...enter, 'node_modules/.bin/node', '--input-type=module', '-e', importPackages)} load`,
  );
  const { Entrypoint, Cmd } = JSON.parse(run('buildah', ...buildah, 'inspect', container)).OCIv1.config;
  const service = spawn('buildah', [...enter, ...Entrypoint, ...Cmd], { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(service, 'close');
  try {
    const key = await readKey(service);
    console.log(`health check: ${run('buildah', ...enter, 'wget', '-qO-', `http://127.0.0.1:${port}/health`)}`);
    const url = `http://127.0.0.1:${port}`;
    const chat = await callApi(`${url}/v1/chat/completions`, key, {
      model: 'demo',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    console.log(`chat completion: ${JSON.parse(chat).choices[0].message.content.split('\n', 1)}`);
    const embeddings = await callApi(`${url}/v1/embeddings`, key, { model: 'demo-embeddings', input: 'Hello' });
    console.log(`embedding: ${JSON.parse(embeddings).data[0].embedding.length} numbers`);
    const page = await (await fetch(url)).text();
    if (!page.includes('<title>')) throw new Error(`${url} returned no page: ${page}`);
    console.log('page: served');
  } finally {
    service.kill();
    await closed;
  }
}

async function buildImage(archive: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-image-'));
  const buildah = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver=vfs'];
  try {
    const context = join(folder, 'context');
    for (const name of ['base', 'data'])
      mkdirSync(join(context, name), { recursive: true, mode: name === 'data' ? 0o700 : 0o755 });
    writeBase(join(context, 'base'));
    writeApp(join(context, 'app'), join(context, 'packages'));
    const name = `parley:${packageJson.version}`;
    const layout = join(folder, 'layout');
    const time = run('git', 'log', '-1', '--format=%ct');
    const options = ['--disable-compression=false', `--timestamp=${time}`, `--tag=oci:${layout}:${name}`];
    run('buildah', ...buildah, 'build', ...options, `--file=${join(checkout, 'deploy/Containerfile')}`, context);
    const bytes = addDockerIndex(layout, name);
    if (bytes > maxBytes) throw new Error(`The image has ${bytes} bytes, more than ${maxBytes}.`);
    mkdirSync(dirname(archive), { recursive: true });
    run('tar', '-cf', archive, '-C', layout, 'oci-layout', 'index.json', 'manifest.json', 'blobs');
    const [size, compressed] = [bytes, statSync(archive).size].map((count) => `${(count / 1e6).toFixed(1)} MB`);
    console.log(`${name}: ${size}, compressed ${compressed}: ${archive}`);
    await verifyImage(archive, buildah);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { values } = parseArgs({ options: { help: { type: 'boolean' }, output: { type: 'string' } } });
if (values.help === true) console.log(help);
else await buildImage(resolve(values.output ?? join(checkout, 'release', `parley-${packageJson.version}-image.tar`)));
