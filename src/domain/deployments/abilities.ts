import { protocols } from '#contract/configuration/protocols.ts';
import { isAcceptedType } from '#contract/is-accepted-type.ts';
import { speaksMessages } from '../upstreams/upstream.ts';
import type { Deployment } from './deployment.ts';

/** Capabilities of a deployment, in terms that the listings of several vendors have fields for. */
export interface Abilities {
  readonly readsImages: boolean;
  readonly readsPdfs: boolean;
  readonly reasons: boolean;
  readonly callsTools: boolean;
  /** Whether every upstream is a Claude model behind the Messages dialect. */
  readonly isClaude: boolean;
  /** Maximum number of prompt tokens. Undefined if the configuration does not set it. */
  readonly contextTokens: number | undefined;
  /** Maximum number of tokens in a reply. Undefined if the configuration does not set it. */
  readonly maxOutputTokens: number | undefined;
}

/** Returns the capabilities of a deployment that follow from its configuration and its protocol. */
export function getAbilities(deployment: Deployment): Abilities {
  const { kind, upstreams, inputAttachmentTypes: types, features, limits } = deployment;
  const isClaude = kind === 'model' && upstreams.length > 0 && upstreams.every(speaksMessages);
  const reads = (type: string): boolean => (types === undefined ? isClaude : isAcceptedType(type, types));
  return {
    readsImages: reads('image/png'),
    readsPdfs: reads('application/pdf'),
    reasons: features.reasoningSupported === true,
    callsTools: typeof features.toolsSupported === 'boolean' ? features.toolsSupported : supportsTools(deployment),
    isClaude,
    contextTokens: limits?.maxPromptTokens ?? limits?.maxTotalTokens,
    maxOutputTokens: limits?.maxCompletionTokens,
  };
}

/** Returns whether every upstream of a chat model accepts tools. */
export function supportsTools({ kind, type, upstreams }: Deployment): boolean {
  return kind === 'model' && type === 'chat' && upstreams.every(({ protocol }) => protocols[protocol].supportsTools);
}
