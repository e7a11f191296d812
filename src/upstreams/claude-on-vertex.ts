import type { HttpClient } from '#base/http/client.ts';
import { toFetch } from '#base/http/to-fetch.ts';
import { joinPath } from '#base/http/url-path.ts';
import { raceAbort } from '#base/stream/race-abort.ts';
import { trimEnd } from '#base/text/truncate.ts';
import type { Clock } from '#base/time/clock.ts';
import { readUpstreamKey } from '#contract/configuration/upstream-key.ts';
import { type ChatProtocol, type Upstream, UpstreamError } from '#domain/upstreams/upstream.ts';
import { maskSecrets } from '#domain/upstreams/upstream-error.ts';
import { AccountToken } from './account-token.ts';
import { createMessagesProtocol, toHeaders } from './anthropic/anthropic-protocol.ts';
import { toUpstreamError } from './to-upstream-error.ts';

/** Value of `anthropic_version` in the body, which replaces the header `anthropic-version`. */
const messagesVersion = 'vertex-2023-10-16';
const maxTokenResponseBytes = 1024 * 1024;
const regionPattern = /^[a-z0-9-]{1,63}$/;

/** The service account of an upstream. */
interface Account {
  readonly token: AccountToken;
  readonly projectId: string;
  readonly privateKey: string;
}

/**
 * Creates the protocol for Claude on Google's Vertex AI. It sends requests in the Messages dialect to a URL that contains the model
 * and the method, with an access token of a service account. `endpoint` is the base URL, which ends in `/publishers/anthropic`.
 */
export function createClaudeOnVertex(http: HttpClient, clock: Pick<Clock, 'epochMs'>): ChatProtocol {
  const accounts = new WeakMap<Upstream, Account>();
  const getAccount = (upstream: Upstream): Account => {
    const account = accounts.get(upstream) ?? toAccount(upstream, http, clock);
    accounts.set(upstream, account);
    return account;
  };
  const { chat } = createMessagesProtocol({
    http,
    clock,
    prepareRequest:
      (attempt, _operation, { model: _model, ...body }) =>
      async (signal) => {
        const { upstream } = attempt;
        const { token, projectId } = getAccount(upstream);
        const isStreamed = body.stream === true;
        const accessToken = await raceAbort(token.getCurrent(), signal).catch((error) => {
          throw toUpstreamError(error);
        });
        const credentials = { authorization: `Bearer ${accessToken}` };
        const { 'anthropic-version': _version, ...headers } = toHeaders(attempt, { isStreamed, credentials });
        const url = toUrl(upstream, projectId, isStreamed ? 'streamRawPredict' : 'rawPredict');
        return { url, headers, body: { ...body, anthropic_version: messagesVersion } };
      },
  });
  return {
    supportsSeveralChoices: false,
    chat(attempt, reply) {
      const mask = (error: unknown): unknown =>
        error instanceof UpstreamError ? maskSecrets(error, listSecrets(accounts.get(attempt.upstream))) : error;
      return chat(attempt, {
        push: (frame) => reply.push(frame),
        end: () => reply.end(),
        fail: (error) => reply.fail(mask(error)),
      });
    },
  };
}

function toAccount({ key, timeouts }: Upstream, http: HttpClient, clock: Pick<Clock, 'epochMs'>): Account {
  const parsedKey = key && readUpstreamKey('vertex', key.reveal());
  if (parsedKey === undefined || 'error' in parsedKey || parsedKey.kind !== 'account')
    throw new UpstreamError('broken', 'Its key must be the JSON of a service account, which Vertex requires for Claude.');
  const token = new AccountToken(parsedKey, { fetch: toFetch(http, { timeouts, maxBytes: maxTokenResponseBytes }), clock });
  return { token, projectId: parsedKey.projectId, privateKey: parsedKey.privateKey };
}

function listSecrets(account: Account | undefined): string[] {
  return [account?.privateKey, account?.token.lastToken].filter((secret) => secret !== undefined);
}

function toUrl({ endpoint, region = 'global', model }: Upstream, projectId: string, method: string): URL {
  const base = new URL(
    endpoint ?? `https://${getHost(region)}/v1/projects/${projectId}/locations/${region}/publishers/anthropic`,
  );
  base.pathname = trimEnd(base.pathname, '/').replace(/\/models$/, '');
  return joinPath(base, `models/${encodeURIComponent(model).replaceAll('%40', '@')}:${method}`);
}

/** Returns the API host of a region. `global` and the multi-regions `eu` and `us` have other host names than single regions. */
function getHost(region: string): string {
  if (!regionPattern.test(region)) throw new UpstreamError('broken', 'Its region is not a valid region name.');
  if (region === 'global') return 'aiplatform.googleapis.com';
  return region === 'eu' || region === 'us' ? `aiplatform.${region}.rep.googleapis.com` : `${region}-aiplatform.googleapis.com`;
}
