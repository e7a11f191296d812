import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { createSbom } from './release/sbom.ts';
import { verifyPackage } from './release/verify.ts';

const help = `Builds the release of the version in package.json into release/:

  parley-VERSION.tgz                 the npm package: the built service and page
  parley-VERSION.package-lock.json   the exact versions of the packages that it needs
  parley-VERSION.cdx.json            its bill of materials with these versions, in CycloneDX
  SHA256SUMS                         checksums of all three: sha256sum --check SHA256SUMS

  npm run release                builds and packs
  npm run release -- --verify    also installs the package into an empty folder, with its dependencies from the registry, and runs it

The work tree must have no changes, and CHANGELOG.md must have an entry with the date of the version.`;

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'release');
const { name, version } = packageJson;

/** Returns the reasons why this version cannot be released. */
function findProblems(): readonly string[] {
  const changes = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' }).trimEnd();
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const hasEntry = changelog.split('\n').some((line) => line.startsWith(`## [${version}] - 20`));
  return [
    ...(changes === '' ? [] : [`The work tree has changes. Commit or stash them:\n${changes}`]),
    ...(hasEntry ? [] : [`CHANGELOG.md has no entry "## [${version}] - DATE". Add it, or set another version.`]),
  ];
}

function buildAndPack(): string {
  for (const folder of ['dist', 'web/dist', 'release']) rmSync(join(root, folder), { recursive: true, force: true });
  mkdirSync(out);
  const run = (...args: readonly string[]): void => void execFileSync('npm', args, { cwd: root, stdio: 'inherit' });
  run('run', '--silent', 'build');
  run('pack', '--silent', '--pack-destination', out);
  return join(out, `${name}-${version}.tgz`);
}

function writeChecksums(): void {
  const lines = readdirSync(out).map((file) => {
    const hash = createHash('sha256').update(readFileSync(join(out, file)));
    return `${hash.digest('hex')}  ${file}\n`;
  });
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''));
}

async function release(shouldVerify: boolean): Promise<void> {
  const tarball = buildAndPack();
  // npm ignores a package-lock.json in a package. With an npm-shrinkwrap.json, npm 11 installs the development packages too.
  const lockfile = join(out, `${name}-${version}.package-lock.json`);
  copyFileSync(join(root, 'package-lock.json'), lockfile);
  writeFileSync(join(out, `${name}-${version}.cdx.json`), `${JSON.stringify(createSbom(root, name), null, 2)}\n`);
  writeChecksums();
  if (shouldVerify) await verifyPackage(tarball, lockfile, version);
  for (const file of readdirSync(out)) console.log(`release/${file}  ${(statSync(join(out, file)).size / 1e6).toFixed(2)} MB`);
}

const options = { help: { type: 'boolean', short: 'h' }, verify: { type: 'boolean' } } as const;
const { values } = parseArgs({ options });
if (values.help === true) console.log(help);
else {
  const problems = findProblems();
  for (const problem of problems) console.error(`release: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  else await release(values.verify === true);
}
