import { isJsonObject } from '#base/json/json.ts';
import { NetGuard } from '#base/net/net-guard.ts';
import type { Configuration } from '../configuration.ts';
import type { Issue, Path } from '../issue.ts';
import { getProtocol } from '../protocols.ts';
import { listAssignedRoles } from './find-configuration-warnings.ts';

/**
 * Yields warnings that `parley check` reports in addition to `findConfigurationWarnings`. A running node omits them, because
 * these settings can be intentional.
 */
export function* findCheckWarnings(configuration: Configuration): Iterable<Issue> {
  yield* findWeakKeys(configuration);
  yield* findRolesWithoutCallers(configuration);
  yield* findEndpointsWithoutPath(configuration);
  yield* findToolsAtPrivateAddresses(configuration);
}

const minKeyChars = 16;
const nonAsciiPattern = /[^\x20-\x7e]/;

function* findWeakKeys({ keys }: Configuration): Iterable<Issue> {
  for (const [name, entry] of Object.entries(keys)) {
    if (entry.sha256 !== undefined) continue;
    const { key = name } = entry;
    const path = entry.key === undefined ? ['keys', name] : ['keys', name, 'key'];
    if (key.length < minKeyChars) {
      const hint = 'create one with "openssl rand -hex 32"';
      yield { path, message: `is a key of fewer than ${minKeyChars} characters, which can be guessed`, hint };
    }
    if (nonAsciiPattern.test(key)) {
      const message = 'contains non-ASCII characters, which clients encode in different ways';
      yield { path, message, hint: 'use letters, digits, and - . _ ~' };
    }
  }
}

function* findRolesWithoutCallers(configuration: Configuration): Iterable<Issue> {
  if (Object.values(configuration.identityProviders).some(({ rolesClaim }) => rolesClaim !== undefined)) return;
  const assignedRoles = listAssignedRoles(configuration);
  for (const role of Object.keys(configuration.roles)) {
    if (assignedRoles.has(role)) continue;
    const hint = 'name it in a key or in scim.groups, or set rolesClaim of an identity provider';
    yield { path: ['roles', role], message: 'is a role that no key or SCIM group has', hint };
  }
}

/** Protocols whose endpoint ends in `/v1`, and the path of their calls below it. */
const versionedPaths: ReadonlyMap<string, string> = new Map([
  ['openai', '/chat/completions'],
  ['anthropic', '/messages'],
  ['mistral', '/chat/completions'],
]);

function* findEndpointsWithoutPath({ models }: Configuration): Iterable<Issue> {
  for (const [id, model] of Object.entries(models)) {
    for (const [index, upstream] of model.upstreams.entries()) {
      const calledPath = versionedPaths.get(getProtocol(upstream, model));
      if (calledPath === undefined || URL.parse(upstream.endpoint ?? '')?.pathname !== '/') continue;
      yield {
        path: ['models', id, 'upstreams', index, 'endpoint'],
        message: `has no path, and Parley calls ${calledPath} below it`,
        hint: 'most upstreams need /v1 at the end',
      };
    }
  }
}

function* findToolsAtPrivateAddresses({ addons, applications, security }: Configuration): Iterable<Issue> {
  const guard = new NetGuard(security.allowPrivateNetworks);
  const isLocalAllowed = security.allowPrivateNetworks.some((allowed) => allowed.toLowerCase() === 'localhost');
  const sections: [Path, unknown][] = Object.entries(addons).map(([name, { url }]) => [['addons', name, 'url'], url]);
  for (const [id, { endpoint, applicationProperties }] of Object.entries(applications))
    if (endpoint === undefined) sections.push([['applications', id, 'applicationProperties'], applicationProperties]);
  for (const [path, value] of sections) {
    for (const address of findAddresses(value, path)) {
      const { hostname } = address.url;
      const isLocal = hostname === 'localhost' && !isLocalAllowed;
      if (!isRejected(guard, isLocal ? new URL('http://127.0.0.1') : address.url)) continue;
      yield {
        path: address.path,
        message: `is at ${hostname}, a private address that tools cannot call`,
        hint: 'add it to security.allowPrivateNetworks if you trust it',
      };
    }
  }
}

/**
 * Yields the URLs of toolsets and their token servers: all members named `url` or `…_url`, and the value itself if its own path
 * ends in such a name.
 */
function* findAddresses(value: unknown, path: Path): Iterable<{ readonly path: Path; readonly url: URL }> {
  if (typeof value === 'string') {
    const url = /(^|_)url$/.test(String(path.at(-1))) ? URL.parse(value) : null;
    if (url?.protocol === 'http:' || url?.protocol === 'https:') yield { path, url };
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* findAddresses(item, [...path, index]);
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) yield* findAddresses(member, [...path, key]);
  }
}

function isRejected(guard: NetGuard, url: URL): boolean {
  const bare = new URL(url.origin);
  try {
    guard.checkUrl(bare);
    return false;
  } catch {
    return true;
  }
}
