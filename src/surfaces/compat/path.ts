import type { AskedVersion } from '#contract/api-version.ts';
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
  /** Undefined if neither the path nor the query has one. */
  readonly version: AskedVersion | undefined;
}

/** Where paths name deployments. */
export interface DeploymentPlace {
  /** What stands ahead of their ids. */
  readonly base: string;
  /** Whether deployments are shown there too. */
  readonly isListed: boolean;
}

/**
 * Reads `{id}/chat/completions[/{api_version}]` or `{id}/embeddings[/{api_version}]` out of a raw path below such a
 * place; the id may have several segments. Throws `route_not_found`, `method_not_allowed`.
 */
export function readTarget(rawUrl: string, { base, isListed }: DeploymentPlace): DeploymentTarget {
  const [path = '', query = ''] = rawUrl.split('?', 2);
  const rest = path.slice(base.length);
  const match = /^(.*)\/(chat\/completions|embeddings)(?:\/([^/]*))?$/.exec(rest);
  const operation = operations[match?.[2] ?? ''];
  if (match === null || operation === undefined) throw isListed && !rest.includes('/') ? notCalled() : routeNotFound();
  const version = match[3] === undefined ? fromQuery(query) : { text: decoded(match[3]), from: 'path' as const };
  return { encodedId: match[1] ?? '', operation, version };
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

function fromQuery(query: string): AskedVersion | undefined {
  const text = query === '' ? null : new URLSearchParams(query).get('api-version');
  return text === null ? undefined : { text, from: 'query' };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
