import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type License, licensesFile } from './licenses.ts';

/** The fields of CycloneDX 1.5 that this script reads or changes. */
interface Bom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly scope?: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
  readonly licenses?: readonly object[];
}

const developmentProperty = 'cdx:npm:package:development';
const isDevelopment = ({ properties = [] }: Component): boolean => properties.some(({ name }) => name === developmentProperty);

/**
 * Returns the bill of materials of the npm package, as CycloneDX JSON of `npm sbom`: the packages that an installation
 * adds, and those whose code is part of `dist` or `web/dist`. Both folders must be built.
 */
export function createSbom(root: string, packageName: string): Bom {
  const options = ['--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
  const output = execFileSync('npm', ['sbom', ...options], { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const bom = JSON.parse(output) as Bom;
  const bundled = new Map(['dist', 'web/dist'].flatMap((folder) => readLicenses(join(root, folder))));
  const packages = bom.components
    .filter((component) => !isDevelopment(component) || bundled.has(component['bom-ref']))
    .map((component) => (isDevelopment(component) ? toRequired(component) : component));
  const refs = new Set([...packages, bom.metadata.component].map((component) => component['bom-ref']));
  const files = [...bundled].filter(([ref]) => !refs.has(ref)).map(([ref, license]) => toFileComponent(ref, license));
  return {
    ...bom,
    // npm uses the name of the folder as the name of the component.
    metadata: { ...bom.metadata, component: { ...bom.metadata.component, name: packageName } },
    components: [...packages, ...files],
    dependencies: bom.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((dependency) => refs.has(dependency)) })),
  };
}

function readLicenses(folder: string): readonly (readonly [string, License])[] {
  const licenses = JSON.parse(readFileSync(join(folder, licensesFile), 'utf8')) as readonly License[];
  return licenses.map((license) => [`${license.name}@${license.version}`, license]);
}

/** Returns a development package as a part of the release. */
function toRequired(component: Component): Component {
  const properties = component.properties ?? [];
  return { ...component, scope: 'required', properties: properties.filter(({ name }) => name !== developmentProperty) };
}

/** Returns a component that is not an npm package, such as the typeface. */
function toFileComponent(ref: string, { name, version, identifier }: License): Component {
  return { 'bom-ref': ref, type: 'file', name, version, licenses: [{ license: { id: identifier } }] };
}
