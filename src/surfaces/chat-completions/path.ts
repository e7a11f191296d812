import { tryDecode } from '#base/http/url-path.ts';
import { checkApiVersion, createMissingVersionError, type RequestedVersion } from '#contract/api-version.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { type PassThroughApi, passThroughApis } from '#contract/pass-through.ts';
import type { PathDeployment } from '../http/authorize-call.ts';
import { methodNotAllowed, rejectExtraSlashes, routeNotFound, toAllowed } from '../http/path-methods.ts';

/** Prefix of Parley's own paths. Other prefixes are aliases. */
export const canonicalPrefix = 'compat';

/** An API of a deployment. */
export type CompatApi = CompatApiByModel | 'responses';

/** APIs in which `model` of the body names the deployment. `/v1/responses` has its own routes. */
export type CompatApiByModel = 'chat/completions' | 'embeddings' | PassThroughApi;

/** APIs on paths without a deployment. */
export const compatApis: readonly CompatApiByModel[] = ['chat/completions', 'embeddings', ...passThroughApis];

/** APIs on paths with a deployment. Azure has no rerank API, and it runs moderation automatically. */
export const apisOfDeployments: readonly CompatApi[] = [
  ...compatApis.filter((api) => api !== 'rerank' && api !== 'moderations'),
  'responses',
];
const apiNames = apisOfDeployments.map((api) => (api === 'completions' ? '(?<!(?:^|/)chat/)completions' : api)).join('|');
// Pattern bound: a path of at most 16 kB, built from route names of Parley.
const targetPattern = new RegExp(`^(.*)/(${apiNames})(?:/([^/]*))?$`);

/** Parts of a path that names a deployment. */
interface DeploymentTarget extends PathDeployment {
  readonly api: CompatApi;
}

/** A path prefix below which paths name deployments. */
export interface DeploymentBase {
  /** The prefix, with a slash at the end. */
  readonly base: string;
  /** Whether GET returns a deployment at the prefix and its ID. */
  readonly isListed: boolean;
  readonly requiresVersion?: boolean;
}

/**
 * Parses `{id}/{api}[/{api_version}]`, such as `{id}/chat/completions`, from a raw path below the base. The ID may have several
 * segments. Throws `route_not_found`, `method_not_allowed`, or `deployment_not_found` if the ID is invalid.
 */
export function readTarget(rawUrl: string, { base, isListed, requiresVersion }: DeploymentBase): DeploymentTarget {
  const [path = '', query = ''] = rawUrl.split('?', 2);
  const targetPath = path.slice(base.length);
  const match = findApi(targetPath);
  if (match === undefined) throw isListed && !targetPath.includes('/') ? postNotAllowed() : routeNotFound();
  const { encodedId, api, inPath } = match;
  if (inPath === '' && !requiresVersion) rejectExtraSlashes(rawUrl);
  const version: RequestedVersion | undefined =
    inPath === undefined ? readQueryVersion(query) : { text: tryDecode(inPath) ?? inPath, from: 'path' };
  const checkVersion = (): void => {
    if (version !== undefined) checkApiVersion(version);
    else if (requiresVersion) throw createMissingVersionError();
  };
  return { api, deployment: readId(encodedId), checkVersion };
}

function findApi(path: string) {
  const match = targetPattern.exec(path);
  return match === null ? undefined : { encodedId: match[1] ?? '', api: match[2] as CompatApi, inPath: match[3] };
}

/** Returns the API of a path, for metrics. Defaults to chat completions. */
export function getApiForMetrics(rawUrl: string, { base }: DeploymentBase): CompatApi {
  return findApi(rawUrl.slice(base.length).split('?', 1)[0] ?? '')?.api ?? 'chat/completions';
}

function readId(encodedId: string): string {
  const id = toDeploymentId(encodedId);
  if (id === undefined) throw new ParleyError('deployment_not_found', 'The path does not contain a valid deployment ID.');
  return id;
}

/** Returns the error for a POST to the path of a deployment, which supports only GET. */
function postNotAllowed(): ParleyError {
  return methodNotAllowed('POST', toAllowed(['GET']), '. To create a chat completion, append /chat/completions');
}

function readQueryVersion(query: string): RequestedVersion | undefined {
  const text = query === '' ? null : new URLSearchParams(query).get('api-version');
  return text === null ? undefined : { text, from: 'query' };
}
