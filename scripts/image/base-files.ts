import { appendFileSync, chmodSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from './run-tool.ts';

/** Debian release of the base layer. */
const suite = 'trixie';
export const defaultMirror = 'http://deb.debian.org';

/** Packages of the base layer: what Node links, certificates, and a shell for `bin/parley`. Nothing else is installed. */
const packages = ['base-files', 'busybox', 'ca-certificates', 'libatomic1', 'libc6', 'libgcc-s1', 'libstdc++6'];

/** Programs of busybox that get a name: those of `bin/parley`, of hooks and probes, and of a person who looks inside. */
const applets = ['cat', 'dirname', 'env', 'id', 'ls', 'printf', 'readlink', 'sh', 'sleep', 'test', '['];

/** Parts of the packages that Parley never reads. The copyright files stay. */
const unused = [
  'etc/{default,update-motd.d,issue*,motd,ca-certificates,kernel,init.d}',
  'usr/bin/{iconv,locale*,ldd,getconf,getent,catchsegv,pldd,tzselect,zdump}',
  'usr/{games,include,src,local}',
  'usr/lib/{debug,locale,locale-gen,mime}',
  'usr/lib/*/{gconv,audit}',
  'usr/sbin/*',
  'usr/share/{base-files,bug,common-licenses/*-*,gdb,gcc,i18n,info,initramfs-tools,libc-bin,libgcc,lintian,locale,man,menu,perl5}',
  'usr/share/doc/*/!(copyright)',
  'var/{backups,mail,local,opt}',
  '{boot,home,media,mnt,srv}',
];

export const userId = 10001;

/** Options of the base layer. `arch` is Debian's name of the architecture. `folder` is a working folder for downloads. */
export interface BaseOptions {
  readonly arch: string;
  readonly mirror: string;
  readonly folder: string;
}

/**
 * Writes the base file system: the files of a few Debian packages, without their install scripts. apt verifies the signature of
 * the archive and the checksum of each package. The host's own package sources and installed packages have no influence.
 */
export function writeBaseFiles(root: string, options: BaseOptions): void {
  mkdirSync(root, { recursive: true });
  for (const file of downloadPackages(options)) {
    runTool('dpkg-deb', ['--extract', file, root]);
    recordPackage(root, file);
  }
  writeCertificates(root);
  for (const pattern of unused)
    for (const path of globSync(pattern, { cwd: root })) rmSync(join(root, path), { recursive: true, force: true });
  for (const applet of applets) symlinkSync('busybox', join(root, 'usr/bin', applet));
  writeAccounts(root);
}

function downloadPackages({ arch, mirror, folder }: BaseOptions): string[] {
  const state = join(folder, 'state');
  const downloads = join(folder, 'packages');
  for (const path of [join(state, 'lists/partial'), join(folder, 'cache/archives/partial'), downloads]) mkdirSync(path, { recursive: true });
  writeFileSync(join(state, 'status'), '');
  const signed = 'Components: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n';
  const sources = [
    `Types: deb\nURIs: ${mirror}/debian\nSuites: ${suite} ${suite}-updates\n${signed}`,
    `Types: deb\nURIs: ${mirror}/debian-security\nSuites: ${suite}-security\n${signed}`,
  ];
  writeFileSync(join(folder, 'debian.sources'), sources.join('\n'));
  const settings = {
    'Dir::State': state,
    'Dir::State::status': join(state, 'status'),
    'Dir::Cache': join(folder, 'cache'),
    'Dir::Etc::SourceList': join(folder, 'debian.sources'),
    'Dir::Etc::SourceParts': '/dev/null',
    'APT::Architecture': arch,
    'APT::Architectures': arch,
    'APT::Sandbox::User': '',
  };
  const flags = ['-qq', ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])];
  runTool('apt-get', [...flags, 'update']);
  runTool('apt-get', [...flags, 'download', ...packages], { cwd: downloads });
  const files = readdirSync(downloads).sort();
  if (files.length !== packages.length) throw new Error(`apt-get downloaded ${files.join(', ')} instead of ${packages.join(', ')}.`);
  return files.map((file) => join(downloads, file));
}

/** Records the package in the form that vulnerability scanners read in images without a package manager. */
function recordPackage(root: string, file: string): void {
  const folder = join(root, 'var/lib/dpkg/status.d');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, runTool('dpkg-deb', ['--field', file, 'Package']).trim()), runTool('dpkg-deb', ['--field', file]));
}

/** Does what `update-ca-certificates` does: joins the certificates to one file. */
function writeCertificates(root: string): void {
  const certificates = globSync('usr/share/ca-certificates/mozilla/*.crt', { cwd: root }).sort();
  if (certificates.length < 50) throw new Error(`The package ca-certificates has only ${certificates.length} certificates.`);
  const bundle = certificates.map((path) => readFileSync(join(root, path), 'utf8').trimEnd());
  mkdirSync(join(root, 'etc/ssl/certs'), { recursive: true });
  writeFileSync(join(root, 'etc/ssl/certs/ca-certificates.crt'), `${bundle.join('\n')}\n`);
}

function writeAccounts(root: string): void {
  const accounts = [`root:x:0:0:root:/root:/bin/sh`, `parley:x:${userId}:${userId}::/nonexistent:/usr/sbin/nologin`];
  writeFileSync(join(root, 'etc/passwd'), `${accounts.join('\n')}\n`);
  writeFileSync(join(root, 'etc/group'), `root:x:0:\nparley:x:${userId}:\n`);
  appendFileSync(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
}
