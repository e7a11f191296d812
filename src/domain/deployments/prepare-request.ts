import { isAcceptedType } from '#base/http/media-type.ts';
import { type ChatRequest, withDefaults } from '#contract/chat/chat-request.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Deployment } from './deployment.ts';

/**
 * Returns the request with the deployment's defaults for fields that are not set. Throws `invalid_request` for invalid
 * defaults, and for attachments that the deployment does not accept.
 */
export function prepareRequest(request: ChatRequest, deployment: Deployment): ChatRequest {
  const { inputAttachmentTypes, maxInputAttachments } = deployment;
  if (inputAttachmentTypes !== undefined || maxInputAttachments !== undefined) checkAttachments(request, deployment);
  return withDefaults(request, deployment.defaults);
}

function checkAttachments(request: ChatRequest, deployment: Deployment): void {
  const { inputAttachmentTypes: types, maxInputAttachments: maxAttachments, id, displayName } = deployment;
  const name = displayName ?? id;
  request.messages.forEach((message, index) => {
    const attachments = message.role === 'user' ? (message.custom_content?.attachments ?? []) : [];
    const path = `messages[${index}].custom_content.attachments`;
    if (maxAttachments !== undefined && attachments.length > maxAttachments) {
      throw new ParleyError('invalid_request', `${name} accepts at most ${maxAttachments} attachments per message.`, {
        param: path,
      });
    }
    attachments.forEach(({ type = 'text/markdown' }, attachmentIndex) => {
      if (types === undefined || isAcceptedType(type, types)) return;
      throw new ParleyError('invalid_request', `${name} accepts attachments of type ${types.join(', ')}, not ${type}.`, {
        param: `${path}[${attachmentIndex}].type`,
      });
    });
  });
}
