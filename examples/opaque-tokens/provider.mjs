// An identity provider with one opaque token. It answers introspection requests (RFC 7662).
import { createServer } from 'node:http';

createServer(async (request, response) => {
  const text = (await request.toArray()).join('');
  const active = new URLSearchParams(text).get('token') === 'opaque-of-ada';
  response
    .setHeader('Content-Type', 'application/json')
    .end(JSON.stringify(active ? { active, sub: 'ada', scope: 'staff' } : { active }));
}).listen(8097, '127.0.0.1');
