// The shop's own services, invented for this example: a web API at /stock and an MCP server at /mcp, both behind a token.
// Runs with Node 20 or later: SHOP_TOKEN=… node shop.mjs
import { createServer } from 'node:http';

const port = Number(process.env.SHOP_PORT ?? 8090);
const token = process.env.SHOP_TOKEN;
if (!token) throw new Error('SHOP_TOKEN must be set');

const stock = {
  Tourer: { in_stock: 3, price: '640 euro' },
  Racer: { in_stock: 0, price: '1,150 euro' },
  Cargo: { in_stock: 1, price: '2,300 euro' },
};
const repairs = { 'R-101': 'ready to be fetched', 'R-102': 'waiting for a new chain, ready on Friday' };

const tool = {
  name: 'repair_status',
  description: 'Reports how far the repair with a number such as R-102 is',
  inputSchema: {
    type: 'object',
    properties: { number: { type: 'string', description: 'Number of the repair' } },
    required: ['number'],
  },
};

/** Results of the MCP methods. A server without sessions needs only these. */
const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'workshop', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': ({ arguments: { number } }) => {
    const status = repairs[number];
    const text = status === undefined ? `There is no repair ${number}.` : `Repair ${number}: ${status}.`;
    return { content: [{ type: 'text', text }], isError: status === undefined };
  },
};

function answerMcp({ id, method, params = {} }) {
  // A notification has no ID and gets no response.
  if (id === undefined) return undefined;
  const answer = methods[method];
  if (answer === undefined) return { jsonrpc: '2.0', id, error: { code: -32601, message: `there is no method ${method}` } };
  return { jsonrpc: '2.0', id, result: answer(params) };
}

function send(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body && JSON.stringify(body));
}

async function answer(request, response) {
  if (request.headers.authorization !== `Bearer ${token}`) return send(response, 401, { error: 'a token is needed' });
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (pathname === '/stock') {
    const found = stock[searchParams.get('bicycle')];
    return found ? send(response, 200, found) : send(response, 404, { error: 'there is no such bicycle' });
  }
  if (pathname !== '/mcp') return send(response, 404);
  if (request.method !== 'POST') return send(response, 405);
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += piece;
  const reply = answerMcp(JSON.parse(text));
  return reply === undefined ? send(response, 202) : send(response, 200, reply);
}

createServer((request, response) => {
  answer(request, response).catch((thrown) => send(response, 400, { error: thrown.message }));
}).listen(port, '127.0.0.1', () => process.stdout.write(`The shop listens on http://127.0.0.1:${port}\n`));
