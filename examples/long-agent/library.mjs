// Simulates a web API with long results, and a scripted model that reads six pages one by one and then looks up a code from
// the first. /measured returns how many bytes the model received in each turn.
import { createServer } from 'node:http';

const port = Number(process.argv[2] ?? 8091);
const pages = 6;
const measured = {};

/** 40 kB of JSON. */
function toPage(number) {
  const entries = Array.from({ length: 480 }, (_, nth) => ({
    page: number,
    entry: nth,
    text: `Entry ${nth} of page ${number}, about shelves and books.`,
  }));
  entries[400].text = `The code of page ${number} is K-${number}417.`;
  return JSON.stringify({ page: number, entries });
}

/** Returns the next action of the model for a request. */
function toTurn({ messages, tools = [] }) {
  const called = messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ function: { name } }) => name));
  const read = called.filter((name) => name === 'read_page').length;
  if (read < pages) return { call: 'read_page', args: { page: read + 1 } };
  const first = messages.find(({ role }) => role === 'tool')?.content ?? '';
  const id = /read_result with id "(r_\w+)"/.exec(first)?.[1];
  const mayRead = tools.some((tool) => tool.function.name === 'read_result');
  if (mayRead && id !== undefined && !called.includes('read_result'))
    return { call: 'read_result', args: { id, search: 'the code of page 1' } };
  const code = /code of page 1 is (K-\d+)/i.exec(messages.map(({ content }) => content ?? '').join('\n'))?.[1];
  return { text: code === undefined ? 'I read six pages and found no code on the first.' : `The code on page 1 is ${code}.` };
}

function toChunks({ call, args, text }) {
  const function_ = { name: call, arguments: JSON.stringify(args) };
  const delta =
    call === undefined
      ? { content: text }
      : { tool_calls: [{ index: 0, id: `call_${call}_${args.page ?? 'again'}`, type: 'function', function: function_ }] };
  const chunk = (choice) => ({
    id: 'scripted',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'scripted',
    choices: [{ index: 0, ...choice }],
  });
  return [
    chunk({ delta: { role: 'assistant', ...delta }, finish_reason: null }),
    chunk({ delta: {}, finish_reason: call === undefined ? 'stop' : 'tool_calls' }),
  ];
}

createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  const { pathname, searchParams } = new URL(request.url, 'http://library');
  response.setHeader('content-type', pathname.endsWith('/completions') ? 'text/event-stream' : 'application/json');
  if (pathname === '/page') response.end(toPage(Number(searchParams.get('page'))));
  else if (pathname === '/measured') response.end(JSON.stringify(measured));
  else if (pathname.endsWith('/completions')) {
    const asked = JSON.parse(body);
    measured[asked.model] = [...(measured[asked.model] ?? []), Buffer.byteLength(body)];
    const events = toChunks(toTurn(asked)).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
    response.end(`${events.join('')}data: [DONE]\n\n`);
  } else response.writeHead(404).end('{}');
}).listen(port, '127.0.0.1');
