/** An example of an external program that calls a deployment. */
export interface Snippet {
  /** Name of the program. */
  readonly name: string;
  readonly language: 'bash' | 'python' | 'javascript' | 'toml';
  /** Target file, if the snippet is not a program. */
  readonly file?: string;
  readonly text: string;
}

/** Data for the snippets of a deployment. */
export interface SnippetOptions {
  /** Address of the service without a trailing slash. */
  readonly address: string;
  /** ID of the deployment. */
  readonly deployment: string;
}

const question = 'Say hello.';

/**
 * Returns the snippets for a deployment. Each reads the key from the environment variable `KEY`. docs/clients.md contains these
 * and more.
 */
export function toSnippets(options: SnippetOptions): readonly Snippet[] {
  return [
    toCurl(options),
    toPython(options),
    toJavaScript(options),
    toAnthropic(options),
    toCodex(options),
    toClaudeCode(options),
  ];
}

/** Adds a user key to a snippet. Only shell snippets change: they start with the key. */
export function addKey(snippet: Snippet, key: string): Snippet {
  return snippet.language === 'bash' ? { ...snippet, text: `export KEY=${key}\n${snippet.text}` } : snippet;
}

function toCurl({ address, deployment }: SnippetOptions): Snippet {
  const body = JSON.stringify({ model: deployment, messages: [{ role: 'user', content: question }] });
  const lines = [
    `curl ${quoteForShell(`${address}/v1/chat/completions`)}`,
    `  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json'`,
    `  -d ${quoteForShell(body)}`,
  ];
  return { name: 'curl', language: 'bash', text: lines.join(' \\\n') };
}

function toPython({ address, deployment }: SnippetOptions): Snippet {
  const text = `import os
from openai import OpenAI

client = OpenAI(base_url=${toStringLiteral(`${address}/v1`)}, api_key=os.environ["KEY"])
reply = client.chat.completions.create(model=${toStringLiteral(deployment)}, messages=[{"role": "user", "content": "${question}"}])
print(reply.choices[0].message.content)`;
  return { name: 'Python', language: 'python', text };
}

function toJavaScript({ address, deployment }: SnippetOptions): Snippet {
  const text = `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${toStringLiteral(`${address}/v1`)}, apiKey: process.env.KEY });
const messages = [{ role: 'user', content: '${question}' }];
for await (const { choices } of await client.chat.completions.create({ model: ${toStringLiteral(deployment)}, messages, stream: true }))
  process.stdout.write(choices[0]?.delta.content ?? '');`;
  return { name: 'JavaScript', language: 'javascript', text };
}

function toAnthropic({ address, deployment }: SnippetOptions): Snippet {
  const text = `import os
from anthropic import Anthropic

client = Anthropic(base_url=${toStringLiteral(`${address}/anthropic`)}, api_key=os.environ["KEY"])
reply = client.messages.create(model=${toStringLiteral(deployment)}, max_tokens=1000, messages=[{"role": "user", "content": "${question}"}])
print(reply.content[0].text)`;
  return { name: 'Anthropic', language: 'python', text };
}

function toCodex({ address, deployment }: SnippetOptions): Snippet {
  const text = `model = ${toStringLiteral(deployment)}
model_provider = "parley"

[model_providers.parley]
name = "Parley"
base_url = ${toStringLiteral(`${address}/v1`)}
env_key = "KEY"
wire_api = "responses"`;
  return { name: 'Codex', language: 'toml', file: '~/.codex/config.toml', text };
}

function toClaudeCode({ address, deployment }: SnippetOptions): Snippet {
  const model = quoteForShell(deployment);
  const text = `export ANTHROPIC_BASE_URL=${quoteForShell(`${address}/anthropic`)} ANTHROPIC_AUTH_TOKEN="$KEY"
export ANTHROPIC_MODEL=${model} ANTHROPIC_DEFAULT_HAIKU_MODEL=${model}
claude`;
  return { name: 'Claude Code', language: 'bash', text };
}

/** Quotes a text so that a shell does not interpret it. */
function quoteForShell(text: string): string {
  return /^[\w:/.-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Returns a string literal for Python, JavaScript, and TOML. */
function toStringLiteral(text: string): string {
  return JSON.stringify(text);
}
