import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { appFolder, writeAppFiles } from './image/app-files.ts';
import { defaultMirror, writeBaseFiles } from './image/base-files.ts';
import { dataLayer, type Layer, unpackImage, writeImage } from './image/oci-archive.ts';
import { runTool } from './image/run-tool.ts';
import { verifyImage } from './image/verify-image.ts';

const help = `Builds the container image without a container engine, and writes it as a tar that docker, podman, and skopeo load.

  npm run build && npx node scripts/build-image.ts [options]

  --output FILE    default: parley-image.tar
  --name NAME      name with tag. Default: parley:<version>
  --arch ARCH      amd64 or arm64. Default: amd64
  --mirror URL     Debian archive, such as https://snapshot.debian.org/archive/… for packages of one day
  --root FOLDER    only writes the root file system
  --verify         starts the image as its user and uses it. Needs root
  
SOURCE_DATE_EPOCH sets the time of all files. The default is the time of the commit. The host needs Debian or Ubuntu with
binutils and debian-archive-keyring.`;

const architectures = {
  amd64: { node: 'x64', strip: 'x86_64-linux-gnu-strip' },
  arm64: { node: 'arm64', strip: 'aarch64-linux-gnu-strip' },
} as const;

const layers: readonly Layer[] = [
  { title: 'Debian packages', paths: ['bin', 'etc', 'lib', 'lib64', 'proc', 'root', 'run', 'sbin', 'sys', 'dev', 'tmp', 'usr', 'var'] },
  dataLayer,
  { title: 'packages of the lockfile', paths: [`${appFolder}/node_modules`] },
  { title: 'Parley', paths: ['bin', 'dist', 'web', 'samples', 'scripts', 'package.json', 'LICENSE'].map((path) => `${appFolder}/${path}`) },
];

const checkout = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    output: { type: 'string', default: 'parley-image.tar' },
    name: { type: 'string' },
    arch: { type: 'string', default: 'amd64' },
    mirror: { type: 'string', default: defaultMirror },
    root: { type: 'string' },
    verify: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function findEpoch(): number {
  const { SOURCE_DATE_EPOCH } = process.env;
  if (SOURCE_DATE_EPOCH !== undefined) return Number(SOURCE_DATE_EPOCH);
  return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: checkout, encoding: 'utf8' }));
}

function writeRoot(root: string, folder: string, arch: keyof typeof architectures): void {
  mkdirSync(root, { recursive: true });
  writeBaseFiles(root, { arch, mirror: values.mirror, folder });
  writeAppFiles(root, checkout, architectures[arch]);
  // The umask and the packages decide nothing. Only root may write, except in the folders below.
  runTool('chmod', ['-R', 'u=rwX,go=rX', root]);
  mkdirSync(join(root, 'data'), { mode: 0o700 });
  runTool('chmod', ['1777', join(root, 'tmp')]);
}

async function buildImage(arch: string): Promise<void> {
  if (arch !== 'amd64' && arch !== 'arm64') throw new Error(`The architecture ${arch} is not supported. Use amd64 or arm64.`);
  const folder = mkdtempSync(join(tmpdir(), 'parley-image-'));
  try {
    if (values.root !== undefined) return writeRoot(resolve(values.root), folder, arch);
    const root = join(folder, 'root');
    writeRoot(root, folder, arch);
    const { version, license } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
    const archive = resolve(values.output);
    const prefix = 'org.opencontainers.image';
    const labels = { [`${prefix}.title`]: 'Parley', [`${prefix}.version`]: version, [`${prefix}.licenses`]: license };
    const name = values.name ?? `parley:${version}`;
    const image = writeImage({ root, layers, folder, archive, name, architecture: arch, labels, epoch: findEpoch() });
    const [uncompressed, compressed] = [image.uncompressedBytes, image.archiveBytes].map((bytes) => (bytes / 1e6).toFixed(1));
    console.log(`${archive}: ${name}, ${uncompressed} MB uncompressed, ${compressed} MB as a file\n${image.digest}`);
    if (!values.verify) return;
    const unpacked = join(folder, 'unpacked');
    unpackImage(archive, unpacked);
    await verifyImage(unpacked, join(folder, 'volume'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (values.help) console.log(help);
else await buildImage(values.arch);
