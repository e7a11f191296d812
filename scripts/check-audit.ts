/**
 * Audits the packages that the service and the page contain. The check fails if the registry lists a high or critical advisory
 * for one of them. Some mirrors do not support audits. In that case, the check passes and reports that it audited nothing. `npm
 * install` itself does not audit (.npmrc), so that it works with any mirror.
 */

import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };

const failingSeverities: ReadonlySet<string> = new Set(['high', 'critical']);

interface Advisory {
  readonly title: string;
  readonly url: string;
}

interface Vulnerability {
  readonly name: string;
  readonly severity: string;
  readonly range: string;
  /** Advisories on the package itself, and names of packages that cause them. */
  readonly via: readonly (Advisory | string)[];
}

interface Report {
  /** Vulnerabilities by package name. Undefined if the registry returned no report. */
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>;
  readonly message?: string;
}

const options = ['--omit=dev', '--package-lock-only', '--json', '--fetch-retries=1', '--fetch-timeout=20000'];
const importedPackages = listImportedPackages();
const { vulnerabilities, message } = audit();
if (vulnerabilities === undefined) {
  console.log(`audit: NOT RUN, the registry returned no advisories: ${message}`);
} else {
  const allVulnerabilities = Object.values(vulnerabilities);
  const seriousVulnerabilities = allVulnerabilities.filter(({ severity }) => failingSeverities.has(severity));
  for (const vulnerability of seriousVulnerabilities) console.error(toLine(vulnerability));
  if (seriousVulnerabilities.length > 0) process.exitCode = 1;
  else console.log(`audit: no high or critical advisory on a runtime dependency, ${allVulnerabilities.length} of lower severity`);
}

/**
 * Audits a manifest in which the packages that the builds contain are dependencies. In package.json they are development
 * dependencies.
 */
function audit(): Report {
  const folder = mkdtempSync(join(tmpdir(), 'parley-audit-'));
  try {
    const { dependencies, devDependencies, ...otherFields } = packageJson;
    const bundled = Object.entries(devDependencies).filter(([name]) => importedPackages.has(name));
    const manifest = { ...otherFields, dependencies: { ...dependencies, ...Object.fromEntries(bundled) } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    copyFileSync('package-lock.json', join(folder, 'package-lock.json'));
    const run = spawnSync('npm', ['audit', ...options], { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    if (run.error) throw run.error;
    return { message: run.stderr.trim(), ...parseReport(run.stdout) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the packages that the sources of the service and the page import. */
function listImportedPackages(): ReadonlySet<string> {
  const files = globSync(['src/**/*.ts', 'web/{src,worker}/**/*.{ts,tsx}']).filter((file) => !file.includes('.test.'));
  const imports = files.flatMap((file) => [
    ...readFileSync(file, 'utf8').matchAll(/(?:from |import |import\()'((?:@[\w.-]+\/)?\w[\w.-]*)/g),
  ]);
  return new Set(imports.map(([, name = '']) => name));
}

function parseReport(text: string): Report {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return {};
  }
}

function toLine({ name, severity, range, via }: Vulnerability): string {
  const reasons = via.map((entry) => (typeof entry === 'string' ? `depends on ${entry}` : `${entry.title} ${entry.url}`));
  return `${severity}: ${name} ${range}: ${reasons.join('; ')}`;
}
