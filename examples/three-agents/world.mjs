// Simulates the services of the three agents: a source code host at /forge, two MCP servers, and a scripted model. /calls
// returns the calls of the host, and /measured the bytes that the model received.
// Runs with Node 20 or later: node world.mjs [port]. With DIES_AFTER, it kills itself (kill -9) at the first request to the
// model after that number of calls of the host.
import { createServer } from 'node:http';

const port = Number(process.argv[2] ?? 8092);
const calls = [];
const measured = {};

const text = (value) => ({ content: [{ type: 'text', text: value }] });

const servers = {
  shelves: {
    instructions: 'Look at the plan of a house before you name a shelf.',
    tools: [['find_shelf', 'Tells on which shelf a book is', ['title'], ({ title }) => text(`${title} is on shelf 12.`)]],
    resources: { 'plan://house': 'Shelf 12 is on the second floor.' },
    prompts: {},
  },
  loans: {
    instructions: 'Loans last four weeks.',
    tools: [['find_loan', 'Tells who has a book', ['title'], ({ title }) => text(`${title} is lent to Ada until Friday.`)]],
    resources: {},
    prompts: { overdue: 'Which books are overdue?' },
  },
};

function answerMcp(server, { method, params }) {
  if (method === 'initialize') {
    const capabilities = { tools: {}, resources: {}, prompts: {} };
    const serverInfo = { name: 'example', version: '1.0.0' };
    return { protocolVersion: params.protocolVersion, capabilities, serverInfo, instructions: server.instructions };
  }
  if (method === 'tools/list') {
    const inputSchema = (names) => ({
      type: 'object',
      required: names,
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    });
    return { tools: server.tools.map(([name, description, names]) => ({ name, description, inputSchema: inputSchema(names) })) };
  }
  if (method === 'tools/call') return server.tools.find(([name]) => name === params.name)?.[3](params.arguments);
  if (method === 'resources/list') return { resources: Object.keys(server.resources).map((uri) => ({ uri, name: uri })) };
  if (method === 'resources/read') return { contents: [{ uri: params.uri, text: server.resources[params.uri] ?? '' }] };
  if (method === 'prompts/list') return { prompts: Object.keys(server.prompts).map((name) => ({ name })) };
  if (method === 'prompts/get')
    return { messages: [{ role: 'user', content: { type: 'text', text: server.prompts[params.name] } }] };
  return undefined;
}

/** Calls of each agent, in order. */
const scripts = {
  developer: [
    ['issues_list-for-repo', { owner: 'ada', repo: 'engine', state: 'open' }],
    ['issues_create', { owner: 'ada', repo: 'engine', title: 'It stops' }],
    ['issues_add-labels', { owner: 'ada', repo: 'engine', issue_number: 7, body: { labels: ['bug'] } }],
  ],
  steward: [
    ['find_shelf', { title: 'The Hobbit' }],
    ['read_resource', { uri: 'plan://house' }],
    ['find_loan', { title: 'The Hobbit' }],
  ],
  librarian: [['query_document', { query: 'What does clause K-1107 say of returns?' }]],
};

function toTurn({ messages }) {
  const agent = Object.keys(scripts).find((name) => messages[0].content.includes(`You are the ${name}`));
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  const next = scripts[agent][results.length];
  measured[agent] = [...(measured[agent] ?? []), Buffer.byteLength(JSON.stringify(messages))];
  if (next === undefined) return { content: `I know: ${results.join(' · ').slice(0, 600)}` };
  return {
    tool_calls: [
      {
        index: 0,
        id: `call_${results.length}`,
        type: 'function',
        function: { name: next[0], arguments: JSON.stringify(next[1]) },
      },
    ],
  };
}

function toEvents(delta) {
  const chunk = (choice) => ({
    id: 'scripted',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'scripted',
    choices: [{ index: 0, ...choice }],
  });
  const end = delta.content === undefined ? 'tool_calls' : 'stop';
  const chunks = [
    chunk({ delta: { role: 'assistant', ...delta }, finish_reason: null }),
    chunk({ delta: {}, finish_reason: end }),
  ];
  return `${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`;
}

createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  const { pathname } = new URL(request.url, 'http://world');
  const [, first, second] = pathname.split('/');
  const json = (value, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (pathname === '/calls') return json(calls);
  if (pathname === '/measured') return json(measured);
  if (first === 'forge') {
    calls.push(`${request.method} ${request.url}`);
    return json({ done: `${request.method} ${pathname}` });
  }
  if (first === 'mcp' && servers[second] !== undefined) {
    if (request.method !== 'POST') return json({}, 405);
    const asked = JSON.parse(body);
    if (asked.id === undefined) return response.writeHead(202).end();
    const result = answerMcp(servers[second], asked);
    const error = { code: -32601, message: `there is no method ${asked.method}` };
    return json({ jsonrpc: '2.0', id: asked.id, ...(result === undefined ? { error } : { result }) });
  }
  if (!pathname.endsWith('/completions')) return json({}, 404);
  const turn = toTurn(JSON.parse(body));
  if (process.env.DIES_AFTER && Number(process.env.DIES_AFTER) === calls.length) process.kill(process.pid, 'SIGKILL');
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(toEvents(turn));
}).listen(port, '127.0.0.1');
