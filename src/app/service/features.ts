import type { Configuration } from '#contract/configuration/configuration.ts';
import type { ApiOperation } from '#surfaces/http/openapi/operation.ts';
import { opsOperations } from '#surfaces/ops/openapi.ts';
import { administration } from '../features/administration.ts';
import { alerts } from '../features/alerts.ts';
import { applications } from '../features/applications.ts';
import { chatCompletions } from '../features/chat-completions.ts';
import { chats } from '../features/chats.ts';
import { consent } from '../features/consent.ts';
import { deploymentFeatures } from '../features/deployment-features.ts';
import { evaluations } from '../features/evaluations.ts';
import { files } from '../features/files.ts';
import { listings } from '../features/listings.ts';
import { mcpServer } from '../features/mcp-server.ts';
import { messages } from '../features/messages.ts';
import { page } from '../features/page.ts';
import { responses } from '../features/responses.ts';
import { scim } from '../features/scim.ts';
import { userKeys } from '../features/user-keys.ts';
import type { Feature } from './feature.ts';

/** All features of the service, in the order of `/openapi.json`. To add a feature, define it in `app/features` and list it here. */
export const features: readonly Feature[] = [
  ...[chatCompletions, messages, responses, mcpServer, listings, userKeys, deploymentFeatures, consent],
  ...[applications, evaluations, chats, files, administration, alerts, scim, page],
];

/** Returns the operations that `/openapi.json` lists for a configuration. */
export function listApiOperations({ aliases }: Pick<Configuration, 'aliases'>): readonly ApiOperation[] {
  return [...features.flatMap(({ operations }) => operations?.(aliases) ?? []), ...opsOperations];
}
