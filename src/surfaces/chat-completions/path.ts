import { tryDecode } from '#base/http/url-path.ts';
import type { RequestedVersion } from '#contract/api-version.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { type PassThroughApi, passThroughApis } from '#contract/pass-through.ts';
import { methodNotAllowed, routeNotFound } from '../http/answer-methods.ts';
import { toAllowed } from '../http/openapi/path-methods.ts';

/** What a path asks for. */
export type CompatApi = CompatApiByModel | 'responses';

/** APIs in which `model` of the body names the deployment. `/v1/responses` has its own routes. */
export type CompatApiByModel = 'chat/completions' | 'embeddings' | PassThroughApi;

/** What is asked for where `model` of the body names the deployment. */
export const compatApis: readonly CompatApiByModel[] = ['chat/completions', 'embeddings', ...passThroughApis];

/** What is asked for on paths of deployments: Azure has no rerank, and moderates by itself. */
export const apisOfDeployments: readonly CompatApi[] = [
  ...compatApis.filter((api) => api !== 'rerank' && api !== 'moderations'),
  'responses',
];
const names = apisOfDeployments.map((api) => (api === 'completions' ? '(?<!(?:^|/)chat/)completions' : api)).join('|');
// Pattern bound: a path of at most 16 kB, built from route names of Parley.
const form = new RegExp(`^(.*)/(${names})(?:/([^/]*))?$`);

/** What the path of a deployment asks for. */
export interface DeploymentTarget {
  /** As it stands in the path, still percent-encoded; `readId` reads it. */
  readonly encodedId: string;
  readonly api: CompatApi;
  /** Undefined if neither the path nor the query has one. */
  readonly version: RequestedVersion | undefined;
}

/** Where paths name deployments. */
export interface DeploymentPlace {
  /** What stands ahead of their ids. */
  readonly base: string;
  /** Whether deployments are shown there too. */
  readonly isListed: boolean;
}

/**
 * Reads `{id}/{api}[/{api_version}]`, such as `{id}/chat/completions`, out of a raw path below such a place; the id may have several segments. Throws `route_not_found`, `method_not_allowed`.
 */
export function readTarget(rawUrl: string, { base, isListed }: DeploymentPlace): DeploymentTarget {
  const [path = '', query = ''] = rawUrl.split('?', 2);
  const rest = path.slice(base.length);
  const match = apiIn(rest);
  if (match === undefined) throw isListed && !rest.includes('/') ? notCalled() : routeNotFound();
  const { encodedId, api, inPath } = match;
  return {
    encodedId,
    api,
    version: inPath === undefined ? fromQuery(query) : { text: tryDecode(inPath) ?? inPath, from: 'path' },
  };
}

function apiIn(path: string) {
  const match = form.exec(path);
  return match === null ? undefined : { encodedId: match[1] ?? '', api: match[2] as CompatApi, inPath: match[3] };
}

/** The API that a path asks for, for measures; chat where it asks for none. */
export function apiOfPath(rawUrl: string, { base }: DeploymentPlace): CompatApi {
  return apiIn(rawUrl.slice(base.length).split('?', 1)[0] ?? '')?.api ?? 'chat/completions';
}

/** The deployment id of a path. Throws `deployment_not_found` for what can be no id. */
export function readId(encodedId: string): string {
  const id = toDeploymentId(encodedId);
  if (id === undefined) throw new ParleyError('deployment_not_found', 'The path names no deployment that could exist.');
  return id;
}

/** The path of a deployment itself, which is only read. */
function notCalled(): ParleyError {
  return methodNotAllowed('POST', toAllowed(['GET']), '; a chat completion is asked for at …/chat/completions below it');
}

function fromQuery(query: string): RequestedVersion | undefined {
  const text = query === '' ? null : new URLSearchParams(query).get('api-version');
  return text === null ? undefined : { text, from: 'query' };
}
