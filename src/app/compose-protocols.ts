import type { HttpClient } from '#base/http/client.ts';
import { createLetterIds } from '#base/letter-id.ts';
import type { ProtocolName } from '#contract/configuration/protocols.ts';
import type { ChatProtocol } from '#domain/upstreams/upstream.ts';
import type { VendorName } from '#upstreams/ai-sdk/dialect.ts';
import { createVendorProtocol } from '#upstreams/ai-sdk/vendor-protocol.ts';
import { createAnthropicProtocol } from '#upstreams/anthropic/anthropic-protocol.ts';
import { createDemoProtocol } from '#upstreams/demo/demo-protocol.ts';
import { createOpenAiProtocol } from '#upstreams/openai/openai-protocol.ts';
import { readRefusal } from '#upstreams/openai/read-reply.ts';
import { createResponsesProtocol } from '#upstreams/responses/responses-protocol.ts';
import { withChoices } from '#upstreams/with-choices.ts';
import { withFunctions } from '#upstreams/with-functions.ts';
import { withJsonMode } from '#upstreams/with-json-mode.ts';
import type { ServiceDeps } from './service-parts.ts';

/** Slow enough that a stream is seen to be one. */
const usualDemoPaceMs = 15;

/** How upstreams are spoken to; `guarded` reaches what users may steer. */
export function composeProtocols(
  { http, embedder, clock, demoPaceMs = usualDemoPaceMs, noteLost = () => undefined }: ServiceDeps,
  guarded: HttpClient,
): Record<ProtocolName, ChatProtocol> {
  const newId = createLetterIds();
  const tools = (protocol: ChatProtocol): ChatProtocol => withFunctions(protocol, newId);
  const demo = createDemoProtocol({ embedder, now: () => clock.epochMs(), newId, paceMs: demoPaceMs });
  const vendor = (name: VendorName): ChatProtocol =>
    tools(withJsonMode(withChoices(createVendorProtocol(name, { http, clock, noteLost }))));
  const responses = withChoices(createResponsesProtocol(http, clock, readRefusal));
  return {
    openai: tools(createOpenAiProtocol(http, 'openai', responses)),
    azure: tools(createOpenAiProtocol(http, 'azure', responses)),
    application: eitherOf(createOpenAiProtocol(http, 'application'), createOpenAiProtocol(guarded, 'application')),
    dial: createOpenAiProtocol(http, 'dial'),
    anthropic: tools(withJsonMode(withChoices(createAnthropicProtocol(http, clock)))),
    bedrock: vendor('bedrock'),
    vertex: vendor('vertex'),
    gemini: vendor('gemini'),
    mistral: vendor('mistral'),
    demo: tools(withChoices(demo)),
  };
}

function eitherOf(open: ChatProtocol, guarded: ChatProtocol): ChatProtocol {
  return { hasChoices: open.hasChoices, chat: (ask, reply) => (ask.upstream.isGuarded ? guarded : open).chat(ask, reply) };
}
