import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runTool } from './run-tool.ts';
import { userId } from './base-files.ts';
import { settings } from './image-config.ts';

/** A layer of the image: paths below the root folder, and what created them. */
export interface Layer {
  readonly title: string;
  readonly paths: readonly string[];
  readonly owner?: number;
}

export interface ImageOptions {
  readonly root: string;
  readonly layers: readonly Layer[];
  /** Working folder. */
  readonly folder: string;
  readonly archive: string;
  /** Name with tag, such as `parley:0.2.0`. */
  readonly name: string;
  readonly architecture: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Time of every file, in seconds since 1970. */
  readonly epoch: number;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export interface WrittenImage {
  readonly digest: string;
  readonly uncompressedBytes: number;
  readonly archiveBytes: number;
}

const media = 'application/vnd.oci.image';

/** Returns options of GNU tar that give equal archives for equal files. */
function listTarFlags(epoch: number, owner: number): string[] {
  return ['--format=gnu', '--sort=name', `--mtime=@${epoch}`, `--owner=${owner}`, `--group=${owner}`, '--numeric-owner'];
}

const hash = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/**
 * Writes the image as a tar of an OCI layout. It also has the `manifest.json` of `docker save`, so that versions of
 * `docker load` without support for OCI layouts accept it. Equal files give an equal digest.
 */
export function writeImage(options: ImageOptions): WrittenImage {
  const { folder, architecture, labels, epoch, name, archive } = options;
  const layout = join(folder, 'layout');
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true });
  const add = (mediaType: string, content: Uint8Array | object): Descriptor => {
    const bytes = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
    const digest = hash(bytes);
    writeFileSync(join(layout, getBlobPath(digest)), bytes);
    return { mediaType, digest, size: bytes.length };
  };
  const created = new Date(epoch * 1000).toISOString();
  const layers = options.layers.map((layer) => {
    const bytes = packLayer(options, layer);
    const descriptor = add(`${media}.layer.v1.tar+gzip`, gzipSync(bytes, { level: 9 }));
    return { descriptor, diffId: hash(bytes), bytes: bytes.length, history: { created, created_by: layer.title } };
  });
  const config = add(`${media}.config.v1+json`, {
    created,
    architecture,
    os: 'linux',
    config: { ...settings, Labels: labels },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ history }) => history),
  });
  const manifest = add(`${media}.manifest.v1+json`, {
    schemaVersion: 2,
    mediaType: `${media}.manifest.v1+json`,
    config,
    layers: layers.map(({ descriptor }) => descriptor),
  });
  const annotations = {
    'io.containerd.image.name': `docker.io/library/${name}`,
    'org.opencontainers.image.ref.name': name.slice(name.indexOf(':') + 1),
  };
  const files = {
    'oci-layout': { imageLayoutVersion: '1.0.0' },
    'index.json': {
      schemaVersion: 2,
      mediaType: `${media}.index.v1+json`,
      manifests: [{ ...manifest, platform: { architecture, os: 'linux' }, annotations }],
    },
    'manifest.json': [
      {
        Config: getBlobPath(config.digest),
        RepoTags: [name],
        Layers: layers.map(({ descriptor }) => getBlobPath(descriptor.digest)),
      },
    ],
  };
  for (const [file, content] of Object.entries(files)) writeFileSync(join(layout, file), JSON.stringify(content));
  runTool('tar', [...listTarFlags(epoch, 0), '--mode=u=rwX,go=rX', '-cf', archive, '-C', layout, ...Object.keys(files), 'blobs']);
  return {
    digest: manifest.digest,
    uncompressedBytes: layers.reduce((sum, { bytes }) => sum + bytes, 0),
    archiveBytes: statSync(archive).size,
  };
}

function getBlobPath(digest: string): string {
  return join('blobs', digest.replace(':', '/'));
}

function packLayer({ root, folder, epoch }: ImageOptions, { paths, owner = 0 }: Layer): Uint8Array {
  const file = join(folder, 'layer.tar');
  runTool('tar', [...listTarFlags(epoch, owner), '-cf', file, '-C', root, ...paths]);
  const bytes = readFileSync(file);
  rmSync(file);
  return bytes;
}

/** Unpacks the layers of an archive, in order, into an empty folder. */
export function unpackImage(archive: string, root: string): void {
  const layout = `${root}-layout`;
  for (const path of [layout, root]) mkdirSync(path, { recursive: true });
  runTool('tar', ['-xf', archive, '-C', layout]);
  const [image] = JSON.parse(readFileSync(join(layout, 'manifest.json'), 'utf8')) as readonly { readonly Layers: readonly string[] }[];
  for (const layer of image?.Layers ?? [])
    runTool('tar', ['--same-owner', '--same-permissions', '-xzf', join(layout, layer), '-C', root]);
  rmSync(layout, { recursive: true });
}

export const dataLayer: Layer = { title: 'data folder of the user', paths: ['data'], owner: userId };
