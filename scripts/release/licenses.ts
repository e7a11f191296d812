import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** License of a package whose code is part of a build. Has the same fields as the license file of Vite. */
export interface License {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. Missing if the package declares none. */
  readonly identifier?: string | undefined;
  /** License text. Missing if the package has no license file. */
  readonly text?: string | undefined;
}

/** Name of the file in a build folder with the licenses of the packages that the build contains. */
export const licensesFile = 'licenses.json';

/** Returns the licenses of all packages that these modules come from, ordered by name and version. */
export function listLicenses(moduleIds: readonly string[]): readonly License[] {
  const folders = new Set(moduleIds.flatMap((id) => /^\/.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []));
  const licenses = new Map([...folders].map(readLicense).map((license) => [`${license.name}@${license.version}`, license]));
  return [...licenses].sort(([first], [second]) => (first < second ? -1 : 1)).map(([, license]) => license);
}

function readLicense(folder: string): License {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const [file] = globSync('{LICEN[CS]E,licen[cs]e,COPYING}*', { cwd: folder }).sort();
  const text = file === undefined ? undefined : readFileSync(join(folder, file), 'utf8').trim();
  return { name, version, identifier: license, text };
}
