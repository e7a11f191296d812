import { toDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Operation } from '#domain/telemetry.ts';
import { methodNotAllowed, routeNotFound } from '../http/answer-methods.ts';
import { toAllowed } from '../http/path-methods.ts';

const operations: Readonly<Record<string, Operation>> = { 'chat/completions': 'chat', embeddings: 'embeddings' };

/** What the path of a deployment asks for. */
export interface DeploymentTarget {
  /** As it stands in the path, still percent-encoded; `readId` reads it. */
  readonly encodedId: string;
  readonly operation: Operation;
  /** From the path or the query; undefined if neither has one. */
  readonly apiVersion: string | undefined;
}

/**
 * Reads `{id}/chat/completions[/{api_version}]` or `{id}/embeddings[/{api_version}]` out of a raw path below a
 * deployments prefix; the id may have several segments. Throws `route_not_found`, `method_not_allowed`.
 */
export function readTarget(rawUrl: string, prefix: string): DeploymentTarget {
  const [path = '', query = ''] = rawUrl.split('?', 2);
  const rest = path.slice(prefix.length);
  const match = /^(.*)\/(chat\/completions|embeddings)(?:\/([^/]*))?$/.exec(rest);
  const operation = operations[match?.[2] ?? ''];
  if (match === null || operation === undefined) throw rest.includes('/') ? routeNotFound() : notCalled();
  const apiVersion = match[3] === undefined ? fromQuery(query) : decoded(match[3]);
  return { encodedId: match[1] ?? '', operation, apiVersion };
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

function fromQuery(query: string): string | undefined {
  return query === '' ? undefined : (new URLSearchParams(query).get('api-version') ?? undefined);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
