import type { Rating, Reply } from '../conversation/conversation.ts';
import { encodePath, type Service } from './service.ts';

/** Stores a rating of an answer. Throws `ServiceError`. */
export async function rateReply(service: Service, { deployment, responseId }: Reply, { isGood, comment }: Rating): Promise<void> {
  const body = { rate: isGood, ...(comment !== '' && { comment }), ...(responseId !== undefined && { responseId }) };
  await service.send(`v1/deployments/${encodePath(deployment)}/rate`, { method: 'POST', body });
}
