import type { ChatRequest } from '#contract/chat-request.ts';
import { ParleyError } from '#contract/errors.ts';
import { isAcceptedType } from '../files/is-accepted-type.ts';
import type { Deployment } from './deployment.ts';

/** The request with the deployment's defaults if it has no value of its own. Throws `invalid_request` for attachments the deployment does not take. */
export function prepareRequest(request: ChatRequest, deployment: Deployment): ChatRequest {
  const { inputAttachmentTypes, maxInputAttachments } = deployment;
  if (inputAttachmentTypes !== undefined || maxInputAttachments !== undefined) checkAttachments(request, deployment);
  let prepared = request;
  for (const field in deployment.defaults) {
    if (prepared[field] !== undefined || (isBound(field) && hasBound(prepared))) continue;
    if (prepared === request) prepared = { ...request };
    prepared[field] = deployment.defaults[field];
  }
  return prepared;
}

/** Both names of the bound of a reply: upstreams reject a request with two bounds. */
function isBound(field: string): boolean {
  return field === 'max_tokens' || field === 'max_completion_tokens';
}

function hasBound({ max_tokens: former, max_completion_tokens: most }: ChatRequest): boolean {
  return (former ?? most ?? undefined) !== undefined;
}

function checkAttachments(request: ChatRequest, deployment: Deployment): void {
  const { inputAttachmentTypes: types, maxInputAttachments: most } = deployment;
  request.messages.forEach((message, index) => {
    const attachments = message.role === 'user' ? (message.custom_content?.attachments ?? []) : [];
    const at = `messages[${index}].custom_content.attachments`;
    if (most !== undefined && attachments.length > most) {
      throw new ParleyError('invalid_request', `${deployment.id} takes at most ${most} attachments a message.`, { param: at });
    }
    attachments.forEach(({ type = 'text/markdown' }, position) => {
      if (types === undefined || isAcceptedType(type, types)) return;
      throw new ParleyError('invalid_request', `${deployment.id} takes attachments of ${types.join(', ')}, not ${type}.`, {
        param: `${at}[${position}].type`,
      });
    });
  });
}
