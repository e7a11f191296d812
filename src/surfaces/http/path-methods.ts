import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { getPath } from '#base/http/url-path.ts';
import { escapePattern } from '#base/text/find-text.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { toPreflightFields } from './cross-origin.ts';
import type { ApiOperation } from './openapi/operation.ts';
import type { RawConfig } from './serve-raw.ts';

export interface MethodDeps {
  /** Operations of `/openapi.json`, and path patterns that it does not contain. */
  readonly operations: () => readonly MethodOfPath[];
  /** Origins whose pages may read responses. */
  readonly allowedOrigins: () => readonly string[];
}

/**
 * Answers requests that match no route: 404, 405 with `Allow`, and OPTIONS. A wildcard route also matches methods that the path
 * does not have, and these are rejected too. Must be called before routes are registered.
 */
export function handleUnmatchedRequests(app: FastifyInstance, { operations, allowedOrigins }: MethodDeps): void {
  const pathMethods = new PathMethods(operations);
  const findRouteMethods = collectRouteMethods(app, pathMethods);
  const methodsAt = (url: string): readonly string[] => {
    const methods = pathMethods.at(url);
    return methods.length > 0 ? methods : findRouteMethods(url);
  };
  const answer = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { method, url, headers } = request;
    const allowed = methodsAt(url);
    if (method === 'OPTIONS' && allowed.length > 0)
      return reply
        .code(204)
        .headers({ allow: allowed.join(', '), ...toPreflightFields(headers, allowed, allowedOrigins()) })
        .send();
    if (allowed.length === 0 || allowed.includes(method)) throw routeNotFound(suggestPath(url, method, pathMethods));
    throw methodNotAllowed(method, allowed);
  };
  app.setNotFoundHandler(answer);
  // Runs before the body is read, so that a malformed body does not hide this error.
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) return answer(request, reply);
    const { url = '', config } = request.routeOptions;
    if (!url.endsWith('*') || (config as RawConfig).isRaw) return;
    const allowed = pathMethods.at(request.url);
    if (allowed.length > 0 && !allowed.includes(request.method)) throw methodNotAllowed(request.method, allowed);
  });
}

/** Returns the error for an unknown path. `suggestion` is a similar path that exists. */
export function routeNotFound(suggestion?: string): ParleyError {
  const hint = suggestion === undefined ? '' : ` (did you mean ${suggestion}?)`;
  return new ParleyError('route_not_found', `This path does not exist${hint}. See /docs for all paths.`);
}

/** Prefixes that base URLs of clients often lack or repeat. */
const bases = ['/v1', '/openai', '/anthropic', '/anthropic/v1', '/msgapi', '/msgapi/v1'];
const maxHintedPathLength = 1000;
const displayablePath = /^(?:\/[\w.:-]{1,100}){1,8}$/;

/**
 * Returns the path that a client with a wrong base URL or with extra slashes probably meant. Undefined if no such path exists.
 */
function suggestPath(url: string, method: string, pathMethods: PathMethods): string | undefined {
  const requested = getPath(url);
  const path = removeExtraSlashes(requested);
  if (path === undefined) return undefined;
  const withVersion = path.replace(/^\/\w+(?=\/)/, '$&/v1');
  const withoutRepeatedVersion = path.replace(/\/v1(?=\/v1\/)/, '');
  const candidates = [path, ...bases.map((base) => `${base}${path}`), withVersion, withoutRepeatedVersion];
  return candidates.find((candidate) => candidate !== requested && pathMethods.at(candidate).includes(method));
}

/** Throws `route_not_found` with a suggestion if the path of a request has empty segments. */
export function rejectExtraSlashes(url: string): void {
  const requested = getPath(url);
  const path = removeExtraSlashes(requested);
  if (path !== undefined && path !== requested) throw routeNotFound(path);
}

/** Returns a path without empty segments. Returns undefined if the path has characters that an error message must not repeat. */
function removeExtraSlashes(requested: string): string | undefined {
  if (requested.length > maxHintedPathLength) return undefined;
  const segments = requested.split('/').filter((segment) => segment !== '');
  const path = `/${segments.join('/')}`;
  return displayablePath.test(path) ? path : undefined;
}

/** Returns a 405 error with an `Allow` header. `hint` is appended to the message. */
export function methodNotAllowed(method: string, allowed: readonly string[], hint = ''): ParleyError {
  const list = allowed.join(', ');
  return new ParleyError('method_not_allowed', `This path supports ${list}, not ${method}${hint}.`, { headers: { allow: list } });
}

/** Returns a function that finds the methods of routes without an operation, such as the routes of the page. */
function collectRouteMethods(app: FastifyInstance, pathMethods: PathMethods): (url: string) => readonly string[] {
  const methodsByRoute = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const knownMethods = methodsByRoute.get(url) ?? new Set();
    for (const name of [method].flat()) knownMethods.add(name);
    methodsByRoute.set(url, knownMethods);
  });
  const isAt = (route: string, path: string): boolean => {
    if (!route.endsWith('*')) return route === path;
    const prefix = route.slice(0, -1);
    return prefix !== '' && path.startsWith(prefix) && !pathMethods.hasBelow(prefix);
  };
  return (url) => {
    const [path = ''] = url.split('?', 1);
    const methods = [...methodsByRoute].flatMap(([route, routeMethods]) => (isAt(route, path) ? [...routeMethods] : []));
    return methods.length === 0 ? [] : toAllowed(methods);
  };
}

/** A method of a path, such as `/v1/deployments/{id}/limits`. */
export type MethodOfPath = Pick<ApiOperation, 'method' | 'path'>;

interface PathPattern {
  readonly pattern: RegExp;
  /** Number of characters outside of parameters. */
  readonly literalLength: number;
  readonly methods: readonly string[];
}

/** Finds the methods of a path from the operations of the service. */
class PathMethods {
  readonly #operations: () => readonly MethodOfPath[];
  #patterns: readonly PathPattern[] | undefined;

  /** `operations` is first called when a path is requested. */
  constructor(operations: () => readonly MethodOfPath[]) {
    this.#operations = operations;
  }

  /** Returns the methods in uppercase and sorted, including `HEAD`. Empty if no operation has this path. */
  at(url: string): readonly string[] {
    const path = getPath(url);
    this.#patterns ??= toPatterns(this.#operations());
    return this.#patterns.find(({ pattern }) => pattern.test(path))?.methods ?? [];
  }

  /** Returns whether an operation has a path below a prefix. */
  hasBelow(prefix: string): boolean {
    return this.#operations().some(({ path }) => path.startsWith(prefix));
  }
}

/** Patterns with more literal text come first, because IDs may contain slashes and a path may match several patterns. */
function toPatterns(operations: readonly MethodOfPath[]): readonly PathPattern[] {
  const byPath = new Map<string, Set<string>>();
  for (const { path, method } of operations) byPath.set(path, (byPath.get(path) ?? new Set()).add(method.toUpperCase()));
  const patterns = [...byPath].map(([path, methods]) => ({
    pattern: toPattern(path),
    literalLength: path.replaceAll(/\{\w+\}/g, '').length,
    methods: toAllowed(methods),
  }));
  return patterns.sort((left, right) => right.literalLength - left.literalLength);
}

/** A path that ends with a bucket may have a trailing slash. */
function toPattern(path: string): RegExp {
  const parts = path.split(/(\{\w+\})/).map((part) => {
    if (part === '{id}' || part === '{path}') return '.+';
    return part.startsWith('{') ? '[^/]+' : escapePattern(part);
  });
  // Pattern bound: a path of at most 16 kB with few parameters, built from the escaped routes of Parley.
  return new RegExp(`^${parts.join('')}${path.endsWith('{bucket}') ? '/?' : ''}$`);
}

/** Returns the methods for `Allow`, with HEAD if GET is one of them. Omits OPTIONS, which every path supports. */
export function toAllowed(methods: Iterable<string>): readonly string[] {
  const all = new Set(methods);
  if (all.has('GET')) all.add('HEAD');
  return [...all].sort();
}
