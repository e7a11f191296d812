import { callerKey } from '#test/start-service.ts';
import { chunked, chunkedField, framed, head, lastChunk, type Step, wait } from '../upstreams/fault.ts';
import { type GoodReply, goodReply } from '../upstreams/good-replies.ts';
import { type HostileUpstream, startHostileUpstream } from '../upstreams/hostile-upstream.ts';

/**
 * Starts an upstream with valid replies. A prompt `pieces N` is answered in N pieces, 20 ms apart. `pieces N every MS` sets the
 * interval.
 */
export function startCalmUpstream(): Promise<HostileUpstream> {
  return startHostileUpstream(({ body }) => {
    const good = goodReply('openai', /"stream":\s*true/.test(body));
    const [, pieces = '0', everyMs = '20'] = /pieces (\d+)(?: every (\d+))?/.exec(body) ?? [];
    return good.isStream && Number(pieces) > 0 ? slowly(good, Number(pieces), Number(everyMs)) : framed(good);
  });
}

function slowly(good: GoodReply, count: number, everyMs: number): readonly Step[] {
  const [first = Buffer.alloc(0), text = Buffer.alloc(0)] = good.pieces;
  const texts = Array.from({ length: count }, () => [chunked(text), wait(everyMs)]).flat();
  return [head(good, [chunkedField]), chunked(first), ...texts, ...good.pieces.slice(-3).map(chunked), lastChunk];
}

export const quickAppType = 'https://parley.test/custom_application_schemas/quickapps';
/** Applications that require consent. */
export const consentedNames = Array.from({ length: 6 }, (_, index) => `consented-${index}`);

/** Configures the models `free`, `bounded` by a limit, and `guarded` by consent, and applications on a calm upstream. */
export function calmConfiguration(url: string): object {
  const model = { upstreams: [{ endpoint: `${url}/v1` }], maxRetryAttempts: 1 };
  const app = { endpoint: `${url}/app`, features: { consentRequired: true }, dependencies: ['guarded'] };
  return {
    models: { free: model, bounded: model, guarded: { ...model, features: { consentRequired: true } } },
    applications: { app: { endpoint: `${url}/app` }, ...Object.fromEntries(consentedNames.map((name) => [name, app])) },
    keys: { [callerKey]: { project: 'chaos' } },
    roles: { default: { limits: { bounded: { requestDay: 10_000_000 } } } },
  };
}
