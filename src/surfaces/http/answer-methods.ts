import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { getPath } from '#base/http/url-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { toPreflightFields } from './cross-origin.ts';
import { type MethodOfPath, PathMethods, toAllowed } from './openapi/path-methods.ts';
import type { RawConfig } from './serve-raw.ts';

export interface MethodDeps {
  /** All that is described, and forms of paths that are not. */
  readonly operations: () => readonly MethodOfPath[];
  /** Origins whose pages may read answers. */
  readonly allowedOrigins: () => readonly string[];
}

/**
 * Answers what no route takes: 404, 405 with `Allow`, and OPTIONS. A route of many paths may have methods that some of its paths
 * do not take. To be called before routes are registered.
 */
export function answerMethods(app: FastifyInstance, { operations, allowedOrigins }: MethodDeps): void {
  const described = new PathMethods(operations);
  const others = otherRoutes(app, described);
  const methodsAt = (url: string): readonly string[] => {
    const methods = described.at(url);
    return methods.length > 0 ? methods : others(url);
  };
  const answer = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { method, url, headers } = request;
    const allowed = methodsAt(url);
    if (method === 'OPTIONS' && allowed.length > 0)
      return reply
        .code(204)
        .headers({ allow: allowed.join(', '), ...toPreflightFields(headers, allowed, allowedOrigins()) })
        .send();
    if (allowed.length === 0 || allowed.includes(method)) throw routeNotFound(meantBy(url, method, described));
    throw methodNotAllowed(method, allowed);
  };
  app.setNotFoundHandler(answer);
  // Before a body is read: a faulty one would be told instead.
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) return answer(request, reply);
    const { url = '', config } = request.routeOptions;
    if (!url.endsWith('*') || (config as RawConfig).isMeasured) return;
    const allowed = described.at(request.url);
    if (allowed.length > 0 && !allowed.includes(request.method)) throw methodNotAllowed(request.method, allowed);
  });
}

/** Nothing has this path; `meant` may be the one that was looked for. */
export function routeNotFound(suggestion?: string): ParleyError {
  const hint = suggestion === undefined ? '' : `; ${suggestion} may be meant`;
  return new ParleyError('route_not_found', `Nothing is served at this path${hint}; /docs lists what is.`);
}

/** What base addresses of clients lack, or have twice. */
const bases = ['/v1', '/openai', '/anthropic', '/anthropic/v1', '/msgapi', '/msgapi/v1'];
const maxHintedPathLength = 1000;
const displayablePath = /^(?:\/[\w.:-]{1,100}){1,8}$/;

/** Returns the path that a client with another base address, or with surplus slashes, meant. Undefined if there is none. */
function meantBy(url: string, method: string, described: PathMethods): string | undefined {
  const requested = getPath(url);
  if (requested.length > maxHintedPathLength) return undefined;
  const path = `/${requested
    .split('/')
    .filter((segment) => segment !== '')
    .join('/')}`;
  if (!displayablePath.test(path)) return undefined;
  const withVersion = path.replace(/^\/\w+(?=\/)/, '$&/v1');
  const withoutSecond = path.replace(/\/v1(?=\/v1\/)/, '');
  const candidates = [path, ...bases.map((base) => `${base}${path}`), withVersion, withoutSecond];
  return candidates.find((candidate) => candidate !== requested && described.at(candidate).includes(method));
}

/** The path takes other methods, which `Allow` lists; `hint` may say more. */
export function methodNotAllowed(method: string, allowed: readonly string[], hint = ''): ParleyError {
  const list = allowed.join(', ');
  return new ParleyError('method_not_allowed', `This path takes ${list}, not ${method}${hint}.`, { headers: { allow: list } });
}

/** The methods of routes that no operation describes, such as those of the page. */
function otherRoutes(app: FastifyInstance, described: PathMethods): (url: string) => readonly string[] {
  const methodsByRoute = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const knownMethods = methodsByRoute.get(url) ?? new Set();
    for (const name of [method].flat()) knownMethods.add(name);
    methodsByRoute.set(url, knownMethods);
  });
  const isAt = (route: string, path: string): boolean => {
    if (!route.endsWith('*')) return route === path;
    const prefix = route.slice(0, -1);
    return prefix !== '' && path.startsWith(prefix) && !described.hasBelow(prefix);
  };
  return (url) => {
    const [path = ''] = url.split('?', 1);
    const methods = [...methodsByRoute].flatMap(([route, routeMethods]) => (isAt(route, path) ? [...routeMethods] : []));
    return methods.length === 0 ? [] : toAllowed(methods);
  };
}
