import { denied, type Outcome, type Row, withAnyKey, withKeyOnly } from './route-row.ts';

const notFound: Outcome = '404 response_not_found';
const noShare: Outcome = '404 share_not_found';
/** Any key is accepted, but applications cannot act for the owner. */
const byAnyKey = (status: Outcome): Row['outcomes'] => withAnyKey(status, { chain: denied });
const byUnboundKey = (status: Outcome): Row['outcomes'] => withKeyOnly(status, { chain: denied });
const items = { items: [{ role: 'user', content: 'Hello' }] };

/** Returns a row of a route. Its parameters name records that do not exist, or a chat that each caller creates. */
function toRow(route: string, outcomes: Row['outcomes'], body: unknown = {}): Row {
  const [method = '', url = ''] = route.split(' ');
  const path = url
    .replace(/\([^)]*\)/g, '')
    .replace(':response', 'resp_none')
    .replace(':conversation', 'conv_none')
    .replace(/:\w+/g, 'none');
  const hasBody = method === 'POST' || method === 'PUT';
  return { route, toRequest: () => ({ method, path, ...(hasBody && { body }) }), outcomes };
}

const responseRoutes = ['/v1', '/openai/v1', '/openai'].flatMap((base): Row[] => [
  toRow(`GET ${base}/responses/:response`, byAnyKey(notFound)),
  toRow(`DELETE ${base}/responses/:response`, byAnyKey(notFound)),
  toRow(`POST ${base}/responses/:response/cancel`, byAnyKey(notFound)),
  toRow(`GET ${base}/responses/:response/input_items`, byAnyKey(notFound)),
]);

const conversationRoutes = ['/v1', '/openai/v1'].flatMap((base): Row[] => {
  const url = `${base}/conversations/:conversation`;
  const itemsUrl = base === '/v1' ? `${url}(^conv_[^/]+$)/items` : `${url}/items`;
  const none = byAnyKey(notFound);
  return [
    toRow(`POST ${base}/conversations`, byAnyKey(200)),
    ...['GET', 'POST', 'DELETE'].map((method) => toRow(`${method} ${url}`, none)),
    ...['GET', 'POST'].map((method) => toRow(`${method} ${itemsUrl}`, none, items)),
    ...['GET', 'DELETE'].map((method) => toRow(`${method} ${itemsUrl}/:item`, none)),
  ];
});

const chatRoutes: readonly Row[] = [
  toRow('GET /v1/user/responses', byUnboundKey(200)),
  toRow('POST /v1/chats/:chat', byUnboundKey(200)),
  ...['/v1/chats', '/v1/chats/:chat', '/v1/chats/:chat/shared-files', '/v1/chat-changes', '/v1/chat-shares'].map((url) =>
    toRow(`GET ${url}`, byUnboundKey(200)),
  ),
  toRow('POST /v1/chats/:chat/shares', byUnboundKey(201)),
  ...['DELETE /v1/chat-shares/:share', 'GET /v1/shared-chats/:token', 'GET /v1/shared-chats/:token/files/:file'].map((route) =>
    toRow(route, byUnboundKey(noShare)),
  ),
  toRow('DELETE /v1/chats/:chat', byUnboundKey(204)),
  toRow('DELETE /v1/chats', byUnboundKey(204)),
];

/** Routes of stored responses, conversations, and chats. */
export const storedRouteTable: readonly Row[] = [...responseRoutes, ...conversationRoutes, ...chatRoutes];
