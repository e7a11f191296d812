import type { HttpClient } from '#base/http/client.ts';
import { toFetch } from '#base/http/to-fetch.ts';
import { joinPath, trimEndSlashes } from '#base/http/url-path.ts';
import { untilAborted } from '#base/stream/until-aborted.ts';
import type { Clock } from '#base/time/clock.ts';
import { readUpstreamKey } from '#contract/configuration/upstream-key.ts';
import { type ChatProtocol, type Upstream, UpstreamFault } from '#domain/upstreams/upstream.ts';
import { masked } from '#domain/upstreams/upstream-error.ts';
import { AccountToken } from './account-token.ts';
import { toHeaders } from './anthropic/anthropic-protocol.ts';
import { createMessagesProtocol } from './anthropic/messages-protocol.ts';
import { toUpstreamFault } from './to-upstream-fault.ts';

/** The version that stands in the body, in place of the one in the header. */
const version = 'vertex-2023-10-16';
const maxTokenBytes = 1024 * 1024;
const regionName = /^[a-z0-9-]{1,63}$/;

interface Account {
  readonly token: AccountToken;
  readonly projectId: string;
  readonly privateKey: string;
}

/**
 * Claude behind Google's Vertex: the Messages dialect at an address that names model and method, with the token of a service
 * account. `endpoint` is the base address ending in /publishers/anthropic.
 */
export function createClaudeOnVertex(http: HttpClient, clock: Pick<Clock, 'epochMs'>): ChatProtocol {
  const accounts = new WeakMap<Upstream, Account>();
  const accountOf = (upstream: Upstream): Account => {
    const account = accounts.get(upstream) ?? toAccount(upstream, http, clock);
    accounts.set(upstream, account);
    return account;
  };
  const { chat } = createMessagesProtocol({
    http,
    clock,
    address:
      (asked, _operation, { model: _model, ...body }) =>
      async (signal) => {
        const { upstream } = asked;
        const { token, projectId } = accountOf(upstream);
        const isStreamed = body.stream === true;
        const given = await untilAborted(token.current(), signal).catch((thrown) => {
          throw toUpstreamFault(thrown);
        });
        const credentials = { authorization: `Bearer ${given}` };
        const { 'anthropic-version': _version, ...headers } = toHeaders(asked, { isStreamed, credentials });
        const url = toUrl(upstream, projectId, isStreamed ? 'streamRawPredict' : 'rawPredict');
        return { url, headers, body: { ...body, anthropic_version: version } };
      },
  });
  return {
    hasChoices: false,
    chat(ask, reply) {
      const mask = (thrown: unknown): unknown =>
        thrown instanceof UpstreamFault ? masked(thrown, secretsOf(accounts.get(ask.upstream))) : thrown;
      return chat(ask, {
        frame: (frame) => reply.frame(frame),
        end: () => reply.end(),
        fail: (thrown) => reply.fail(mask(thrown)),
      });
    },
  };
}

function toAccount({ key, timeouts }: Upstream, http: HttpClient, clock: Pick<Clock, 'epochMs'>): Account {
  const read = key && readUpstreamKey('vertex', key.reveal());
  if (read === undefined || 'fault' in read || read.kind !== 'account')
    throw new UpstreamFault('broken', 'Its key must be the JSON of a service account, without which Vertex serves no Claude.');
  const token = new AccountToken(read, { fetch: toFetch(http, { timeouts, maxBytes: maxTokenBytes }), clock });
  return { token, projectId: read.projectId, privateKey: read.privateKey };
}

function secretsOf(account: Account | undefined): string[] {
  return [account?.privateKey, account?.token.last].filter((secret) => secret !== undefined);
}

function toUrl({ endpoint, region = 'global', model }: Upstream, projectId: string, method: string): URL {
  const base = new URL(endpoint ?? `https://${hostOf(region)}/v1/projects/${projectId}/locations/${region}/publishers/anthropic`);
  base.pathname = trimEndSlashes(base.pathname).replace(/\/models$/, '');
  return joinPath(base, `models/${encodeURIComponent(model).replaceAll('%40', '@')}:${method}`);
}

/** Regions of several places have hosts of their own. */
function hostOf(region: string): string {
  if (!regionName.test(region)) throw new UpstreamFault('broken', 'Its region is the name of none.');
  if (region === 'global') return 'aiplatform.googleapis.com';
  return region === 'eu' || region === 'us' ? `aiplatform.${region}.rep.googleapis.com` : `${region}-aiplatform.googleapis.com`;
}
