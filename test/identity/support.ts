import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OAuth2Server } from 'oauth2-mock-server';
import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '#base/time/clock.ts';
import { waitUntilListening } from '#test/listening.ts';
import type { TestResponse } from '#test/send-request.ts';
import { type ServiceOptions, startService, type TestService } from '#test/start-service.ts';

/** Path of the OpenID configuration of a provider. */
export const wellKnown = '/.well-known/openid-configuration';
export const audience = 'https://parley.example/api';

type Claims = Record<string, unknown>;

export interface Issuer extends AsyncDisposable {
  readonly url: string;
  readonly server: OAuth2Server;
  /** Returns the number of requests for its keys. */
  readonly countKeyRequests: () => number;
  /** Creates a valid token with changed claims and headers. Undefined removes a claim. */
  token(claims?: Claims, header?: Claims): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a mock identity provider that signs any claims. Its keys are at `/keys`. */
export async function startIssuer(algorithm = 'RS256'): Promise<Issuer> {
  const server = new OAuth2Server();
  let keyRequests = 0;
  await server.issuer.keys.generate(algorithm, { kid: 'key-1' });
  server.service.addRoute('GET', '/keys', (_request, response) => {
    keyRequests += 1;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ keys: server.issuer.keys.toJSON() }));
  });
  await server.start(0, '127.0.0.1');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.issuer.url = url;
  const stop = async (): Promise<void> => {
    if (server.listening) await server.stop();
  };
  return {
    url,
    server,
    countKeyRequests: () => keyRequests,
    token: (claims = {}, header = {}) =>
      server.issuer.buildToken({
        scopesOrTransform(itsHeader, payload) {
          Object.assign(itsHeader, header);
          Object.assign(payload, { sub: 'ada', aud: audience }, claims);
        },
      }),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Starts a server with an answer for each path. `{self}` in a string is replaced by its URL. */
export async function startServer(
  answers: Readonly<Record<string, string | RequestListener>>,
): Promise<{ url: string; requestedPaths: string[] }> {
  const requestedPaths: string[] = [];
  const server = createServer((request, response) => {
    requestedPaths.push(request.url ?? '');
    const answer = answers[request.url ?? ''];
    if (typeof answer === 'string') response.end(answer.replaceAll('{self}', url));
    else if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  await waitUntilListening(server.listen(0, '127.0.0.1'));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url, requestedPaths };
}

/** Returns the configuration entry of an issuer. */
export function createProviderEntry({ url }: { readonly url: string }, more: object = {}): object {
  return { issuer: url, jwksUrl: `${url}/keys`, audience, ...more };
}

/** Starts a service with the identity providers, one model for all roles, and one for staff. */
export function startWithProviders(
  identityProviders: object,
  more: object = {},
  options: ServiceOptions = {},
): Promise<TestService> {
  return startService(withProviders(identityProviders, more), options);
}

export function withProviders(identityProviders: object, more: object = {}): object {
  const upstreams = [{ protocol: 'demo' }];
  return { models: { m: { upstreams }, staffed: { upstreams, userRoles: ['staff'] } }, identityProviders, ...more };
}

/** Requests the user information of a token. */
export function requestUserInfo(service: TestService, token: string): Promise<TestResponse> {
  return service.sendRequest({ method: 'GET', path: '/v1/user/info', headers: { authorization: `Bearer ${token}` } });
}

/** Returns the status, code, and message of a rejection. */
export async function getRejection(
  service: TestService,
  token: string,
): Promise<readonly [status: number, code: string | null, message: string]> {
  const { status, error } = await requestUserInfo(service, token);
  return [status, error.code, error.message];
}

/** The system clock with an offset that tests can increase. */
export class AdjustableClock implements Clock {
  #passedMs = 0;
  #calendarMs = 0;

  nowMs = (): number => systemClock.nowMs() + this.#passedMs;
  epochMs = (): number => systemClock.epochMs() + this.#passedMs + this.#calendarMs;
  sleep = systemClock.sleep;

  advance(ms: number): void {
    this.#passedMs += ms;
  }

  /** Moves the calendar time ahead, like a clock correction. */
  moveCalendar(ms: number): void {
    this.#calendarMs += ms;
  }
}
