// Sends the same question to the three agents, and prints how many bytes their model receives in each turn.
const print = (line) => process.stdout.write(`${line}\n`);
const base = process.env.PARLEY_URL ?? 'http://127.0.0.1:8080';
const readers = { whole: 'reader-whole', fitting: 'reader', larger: 'reader-larger' };

for (const model of Object.values(readers)) {
  const response = await fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'api-key': process.env.PARLEY_KEY ?? '', 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Read six pages: what is the code on the first?' }] }),
  });
  const { choices, error } = await response.json();
  print(`${model}: ${error?.message ?? choices[0].message.content}`);
}

const measured = await (await fetch('http://127.0.0.1:8091/measured')).json();
const turns = Math.max(...Object.values(measured).map(({ length }) => length));
const row = (cells) => `| ${cells.join(' | ')} |`;
print(row(['turn', 'all that was read', 'a model of 6,000 tokens', 'a model of 32,000 tokens']));
print(row(['---', '---', '---', '---']));
for (let turn = 0; turn < turns; turn += 1)
  print(row([turn + 1, ...Object.keys(readers).map((model) => measured[model]?.[turn]?.toLocaleString('en') ?? '')]));
