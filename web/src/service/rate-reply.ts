import type { Rating, Reply } from '../conversation/conversation.ts';
import { encodePath, type Service } from './service.ts';

/** Keeps what the user thinks of an answer. Throws ServiceFault. */
export async function rateReply(service: Service, { deployment, responseId }: Reply, { isGood, comment }: Rating): Promise<void> {
  const body = { rate: isGood, ...(comment !== '' && { comment }), ...(responseId !== undefined && { responseId }) };
  await service.send(`v1/deployments/${encodePath(deployment)}/rate`, { method: 'POST', body });
}
