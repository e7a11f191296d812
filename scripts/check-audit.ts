import { spawnSync } from 'node:child_process';

/**
 * Checks the production packages for advisories in the registry, and fails for high and critical ones. Some mirrors
 * do not support audits. In that case the check passes and reports that it audited nothing. `npm install` itself does
 * not audit (.npmrc), so that it works with any mirror.
 */
const failing: ReadonlySet<string> = new Set(['high', 'critical']);

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
const run = spawnSync('npm', ['audit', ...options], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
if (run.error) throw run.error;
const { vulnerabilities, message = run.stderr.trim() } = toReport(run.stdout);
if (vulnerabilities === undefined) {
  console.log(`audit: NOT RUN, the registry gave no advisories: ${message}`);
} else {
  const advisories = Object.values(vulnerabilities);
  const serious = advisories.filter(({ severity }) => failing.has(severity));
  for (const vulnerability of serious) console.error(toLine(vulnerability));
  if (serious.length > 0) process.exitCode = 1;
  else console.log(`audit: no high or critical advisory on a runtime dependency, ${advisories.length} below that`);
}

function toReport(text: string): Report {
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
