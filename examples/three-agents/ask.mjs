// Saves two of the three agents, calls all three, and prints their answers, the calls that the source code host received, and
// how many bytes of messages their model received in each turn. The second agent is in parley.jsonc.
import { readFile } from 'node:fs/promises';

const print = (line) => process.stdout.write(`${line}\n`);
const base = process.env.PARLEY_URL ?? 'http://127.0.0.1:8080';
const world = process.env.WORLD_URL ?? 'http://127.0.0.1:8092';
const headers = { 'api-key': process.env.PARLEY_KEY ?? '' };
const mostOperations = 30;

async function send(method, path, body, type = 'application/json') {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { ...headers, 'content-type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok && answer.error?.custom_content?.state === undefined) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return answer;
}

const { bucket } = await send('GET', '/v1/bucket');

async function save(name, properties) {
  const applicationTypeSchemaId = 'https://parley.example/custom_application_schemas/quickapps';
  const applicationProperties = { model: 'scripted', temperature: 0, instructions: `You are the ${name}.`, ...properties };
  await send('PUT', `/v1/applications/${bucket}/${name}`, { displayName: name, applicationTypeSchemaId, applicationProperties });
  return `applications/${bucket}/${name}`;
}

async function saveDeveloper() {
  const text = await readFile(new URL('../tools/forge.yaml', import.meta.url), 'utf8');
  const { toolsets } = await send('POST', '/v1/import-openapi', { document: text, url: `${world}/openapi.yaml` });
  let left = mostOperations;
  const taken = toolsets.flatMap((toolset) => {
    const tools = toolset.tools.slice(0, left);
    left -= tools.length;
    return tools.length === 0 ? [] : [{ ...toolset, tools, authorization: { type: 'bearer', token: 'invented' } }];
  });
  print(`developer: ${mostOperations - left} operations`);
  return save('developer', { web_api_toolset: taken });
}

const kinds = {
  md: (code, rule) => `# Clause ${code}\n\n${rule}\n`,
  txt: (code, rule) => `Clause ${code}\n\n${rule}\n`,
  html: (code, rule) => `<h1>Clause ${code}</h1><p>${rule}</p>`,
  csv: (code, rule) => `clause,rule\n${code},"${rule}"\n`,
  json: (code, rule) => JSON.stringify({ clause: code, rule }),
};

const types = { md: 'text/markdown', txt: 'text/plain', html: 'text/html', csv: 'text/csv', json: 'application/json' };

async function saveLibrarian() {
  const files = [];
  for (let nth = 0; nth < 20; nth += 1) {
    const [kind, write] = Object.entries(kinds)[nth % 5];
    const path = `files/${bucket}/three-agents/clause-${nth}.${kind}`;
    const rule = `Returns of kind ${nth} are taken back within ${nth + 10} days, and ${'the desk notes who brought them and when. '.repeat(40)}`;
    await send('PUT', `/v1/${path}`, write(`K-${1100 + nth}`, rule), types[kind]);
    files.push(path);
  }
  print(`librarian: ${files.length} documents`);
  return save('librarian', { document_relative_url: files });
}

const ask = (model, messages) => send('POST', '/v1/chat/completions', { model, messages });

/** Sends a question. If the run fails, continues it when the model is available again. */
async function run(name, model) {
  const question = [{ role: 'user', content: 'Do your work.' }];
  let answer = await ask(model, question);
  if (answer.error !== undefined) {
    const { message, custom_content } = answer.error;
    print(`${name}: broke off: ${message}`);
    while (!(await fetch(`${world}/calls`).catch(() => ({ ok: false }))).ok)
      await new Promise((resolve) => setTimeout(resolve, 200));
    answer = await ask(model, [...question, { role: 'assistant', content: '', custom_content }]);
    const calls = await (await fetch(`${world}/calls`)).json();
    print(`${name}: continued. Requests to the host since then: ${calls.join(', ')}`);
  }
  print(`${name}: ${answer.choices[0].message.content.slice(0, 400)}`);
}

await run('developer', await saveDeveloper());
await run('steward', 'steward');
await run('librarian', await saveLibrarian());
for (const [agent, bytes] of Object.entries(await (await fetch(`${world}/measured`)).json()))
  print(`${agent}: bytes of messages by turn: ${bytes.join(', ')}`);
