import {
  type Cell,
  callerDialects,
  deliveryModes,
  dialectNames,
  type Feature,
  messagesFeatures,
  replyFeatures,
  requestFeatures,
  responsesFeatures,
} from './upstream-features.ts';

const opening = `# Upstreams

<!-- Made by scripts/generate-docs.ts out of scripts/upstream-features.ts and scripts/upstream-reference.ts; change it there. -->

What an upstream speaks is its \`protocol\`. Callers see none of it: they speak the compat wire, the messages dialect or that of responses with every one. Where a dialect has nothing for a
part of a request, this page says whether that is left out or refused (400 with \`param\`); \`LOG_LEVEL=debug\` tells of each top-level field that is left out. A caller of the messages
dialect whose upstream speaks it too is relayed untouched: of that nothing here holds.

\`bedrock\`, \`vertex\`, \`gemini\` and \`mistral\` are spoken by packages of the AI SDK, each loaded with the first call that needs it. Their requests go over the same HTTP client as all
others, are sent once (Parley itself tries again, elsewhere first), and are always streamed.
`;

const examples = `## Examples

Each entry stands in \`models\`; \`model\` is the vendor's own name.

\`\`\`jsonc
{
  "models": {
    // OpenAI, and all that speak its dialect: vLLM, Ollama, OpenRouter, …
    "gpt": { "upstreams": [{ "endpoint": "https://api.openai.com/v1", "key": "\${OPENAI_API_KEY}", "model": "gpt-5" }] },
    // The same, asked in the Responses dialect alone.
    "gpt-responses": {
      "upstreams": [{ "endpoint": "https://api.openai.com/v1", "key": "\${OPENAI_API_KEY}", "model": "gpt-5", "api": "responses" }]
    },
    "gpt-azure": {
      "upstreams": [
        { "protocol": "azure", "endpoint": "https://mine.openai.azure.com/openai/deployments/gpt-5", "apiVersion": "2024-10-21", "key": "\${AZURE_KEY}" }
      ]
    },
    "claude": {
      "upstreams": [
        { "protocol": "anthropic", "endpoint": "https://api.anthropic.com/v1", "key": "\${ANTHROPIC_API_KEY}", "model": "claude-sonnet-4-5" }
      ],
      "limits": { "maxCompletionTokens": 64000 }
    },
    "gemini": { "upstreams": [{ "protocol": "gemini", "key": "\${GEMINI_API_KEY}", "model": "gemini-2.5-pro" }] },
    "gemini-vertex": {
      "upstreams": [
        // The JSON of a service account as one string; its project is the one that pays.
        { "protocol": "vertex", "region": "europe-west1", "key": "\${GOOGLE_ACCOUNT}", "model": "gemini-2.5-pro" },
        // A key of express mode has its region with it.
        { "protocol": "vertex", "key": "\${VERTEX_KEY}", "model": "gemini-2.5-pro", "tier": 1 }
      ]
    },
    "claude-vertex": {
      "upstreams": [
        // Only with the JSON of a service account. Without a region: the global address.
        { "protocol": "vertex", "region": "europe-west1", "key": "\${GOOGLE_ACCOUNT}", "model": "claude-sonnet-4-5@20250929" }
      ],
      "limits": { "maxCompletionTokens": 64000 }
    },
    "claude-bedrock": {
      "upstreams": [
        // A Bedrock API key, or accessKeyId:secretAccessKey, or these with :sessionToken.
        { "protocol": "bedrock", "region": "eu-central-1", "key": "\${BEDROCK_KEY}", "model": "eu.anthropic.claude-sonnet-4-5-20250929-v1:0" }
      ]
    },
    "mistral": { "upstreams": [{ "protocol": "mistral", "key": "\${MISTRAL_API_KEY}", "model": "mistral-large-latest" }] },
    "vectors": { "type": "embedding", "upstreams": [{ "protocol": "gemini", "key": "\${GEMINI_API_KEY}", "model": "gemini-embedding-001" }] },
    // An adapter: a program that is written for this family of gateways. It is called at the endpoint of the model, and told of the upstream that was chosen.
    "adapted": {
      "endpoint": "http://adapter.internal/openai/deployments/gpt/chat/completions",
      "upstreams": [
        { "protocol": "dial", "endpoint": "https://one.example/v1", "key": "\${ONE_KEY}", "extraData": { "region": "eu" } },
        { "protocol": "dial", "endpoint": "https://two.example/v1", "key": "\${TWO_KEY}", "tier": 1 }
      ]
    },
    "demo": { "upstreams": [{ "protocol": "demo" }] }
  },
  "applications": {
    "mine": { "endpoint": "https://mine.example/openai/deployments/mine/chat/completions" }
  },
  "keys": { "\${PARLEY_KEY}": { "project": "local" } }
}
\`\`\`

Without a \`key\`, \`bedrock\` takes \`AWS_BEARER_TOKEN_BEDROCK\`, or \`AWS_ACCESS_KEY_ID\`, \`AWS_SECRET_ACCESS_KEY\` and \`AWS_SESSION_TOKEN\` of the environment; \`vertex\` takes Google's application
default credentials with \`GOOGLE_VERTEX_PROJECT\`. Without a \`region\` they take \`AWS_REGION\` and \`GOOGLE_VERTEX_LOCATION\`. An \`endpoint\` stands in for the vendor's own address.

An adapter (\`dial\`) is sent the request as an application is, which the table below tells: unchanged but for \`defaults\`, with a per-request key in \`Api-Key\`, and \`X-UPSTREAM-ENDPOINT\`, \`X-UPSTREAM-KEY\` and
\`X-UPSTREAM-EXTRA-DATA\` from the entry. Its errors, retries and tiers are those of a model's upstream.

\`mistral\` has a protocol of its own although its wire is much like OpenAI's: it refuses fields it does not know, calls \`seed\` and \`required\` otherwise, wants ids of calls of nine
characters, and tells thoughts inside the content. \`vertex\` speaks to Google's own models and to Claude, \`bedrock\` to all that
the Converse API has.

## System messages

Coding agents send several system and developer messages, also in the middle of a conversation. Many self-hosted models reject this with \`System message must be at the beginning\`. Parley therefore joins
all of them into one leading message before it calls an \`openai\` or \`azure\` upstream. Set \`foldSystemMessages: false\` at an upstream to keep them in place. A request with one leading system message is not changed.

Some templates, such as those of Mistral and Gemma, also demand that user and assistant alternate. Parley joins consecutive messages of the user if it translates them from the Messages or the Responses API. Codex begins
each conversation with two of them. A chat client's own messages are not joined, and \`foldSystemMessages: false\` keeps all of them apart.

## Fields that a model refuses

Some models reject sampling parameters. List such fields in \`unsupportedFields\` of the upstream, for example \`["temperature", "top_p", "top_k"]\`. Parley leaves them out, also of relayed requests, and
names them in \`Parley-Ignored\`.

## Thoughts and signatures

Models that think want what they thought, or what signs it, back with the next request of the same turn. Give back the assistant's message as it came: \`reasoning_content\`, \`thinking_blocks\` and
\`extra_content\`, the last also in each of \`tool_calls\`. Each upstream takes what its own vendor signed and leaves the rest. Quick apps do so by themselves. An upstream that rejects \`reasoning_content\` is not sent it: set
\`acceptsReasoning\` if the default for its address is wrong. \`Parley-Ignored\` names thoughts that are lost.

DeepSeek and Moonshot reject a conversation with tool calls if the thoughts of an assistant message are missing, for example because another model made the calls. Parley then sends a blank in their place. For a proxy
of these vendors, set \`acceptsReasoning: true\`.

With \`functions\` in place of \`tools\`
there is no place for a signature, and Gemini goes on without.

`;

const unanswered = `## Calls without a result

An interrupted conversation can have a tool call without a result. Anthropic and the vendors of the AI SDK packages reject it. On the chat surface, Parley sends them an error as the result: \`No result was given.\`
An \`openai\` or \`azure\` upstream receives the conversation unchanged. The Responses surface rejects it with 400.

`;

const claude = `## Claude elsewhere

A Claude behind \`vertex\` (its \`model\` begins with \`claude-\`, or its \`endpoint\` ends in \`/publishers/anthropic\`) speaks the Messages dialect, as \`anthropic\` does: callers of the dialect are relayed,
with Google's address, token and version in place of Anthropic's; tokens are counted by estimate. It needs the JSON of a service account.

A Claude behind \`bedrock\` is spoken to by the Converse API. Callers of the Messages dialect are translated, and their marks of the prompt cache, thinking budgets and signatures arrive; \`max_tokens\` is the
bound of thoughts and answer together, as the dialect has it.

## Tried again, and left alone

What an upstream that is unreachable, too slow, or answers 429, 502, 503 or 504 has not begun to answer is tried again, at other upstreams first: \`maxRetryAttempts\` times in all (5 for a model, 1 for an application).

Calls that fail so (but for 429), or with any other status from 500 on, count against the upstream: from the second in a row it is left alone for 1 s, doubling with each to 5 min. A 429 leaves it alone for its
\`Retry-After\`, 60 s at most, or 30 s. Other refusals (4xx) and malformed answers do not count. A good answer ends that, and so does a change in the configuration of its deployment, except of its keys. While an upstream refuses the configured credentials (401, 402, 403), \`/health\` names it (\`upstream_credentials_rejected\`).

No caller closes a deployment to others. An upstream whose failures in a row were all of one user is asked all the same if no other is left, unless it could not be connected to. If calls of several users failed, one call at a time is let through as a probe, once a second, the first a second after the last failure,
and the first that succeeds opens it to all. What an application refuses (4xx, 501)
is told to its caller alone and counts as no failure: another caller is served, and the same one again. So it is with whatever a program makes of a refusal of Parley's own further down the chain: a limit that is
used up, a consent that is missing, a role that its user lacks.

While all upstreams of a model are left alone its calls, but for probes, are answered at once, with 503, or 429 where all are rate limited, and \`Retry-After\`; \`/health\` names them (\`upstream_off\`).

## What is told of a failure

An application's 4xx and 501 are told as they are, in a stream too: status, \`message\`, \`type\`, \`param\`, \`code\` and \`display_message\`; what is missing is filled in.

A model's upstream: 400, 404, 413 and 422 are told in its own words, and \`display_message\` with every status. Of its own failures (500, 503) the first line is told too, behind "The upstream of … failed", at most 2,000 characters, without
stack frames and without paths of its machine; what it says back of its key, its configured headers and its address is \`***\` everywhere. An error without a word is told by its status.

`;

const requests = `## What becomes of a request

The column \`responses\` is \`openai\` or \`azure\` with \`"api": "responses"\`.

✓ carried · lost: left out · refused: 400 · – the dialect has nothing of the kind. Cells are held by test/upstreams/matrix.test.ts, which asks an upstream of each dialect. Of what is lost the header field \`Parley-Ignored\` names the fields of the request and thoughts, but no other parts of messages.

`;

const ofMessages = `
## What becomes of a request in the Messages dialect

The same of callers of [the messages surface](messages.md). The column \`anthropic\`, and \`vertex\` with a Claude, is what is relayed. Of the others: what is refused names the block and its
path, and no upstream is asked; what is lost on the way into the inner language is named in the header \`parley-ignored\` of the answer; of what only the vendor's own dialect has no place for it names fields too, in the words of a chat request; of the rest this table tells.

`;

const ofResponses = `
## What becomes of a request in the Responses dialect

The same of callers of [the Responses surface](responses.md). The column \`responses\` is what is relayed. Of the others, what is refused names the item and its path, and no upstream is asked;
what is lost is named in \`parley-ignored\`, but for parts of messages and \`prompt_cache_key\`. What is sealed (\`encrypted_content\`) comes back to the same kind of upstream only.

`;

/** The page of upstreams, as Markdown. */
export function upstreamReference(): string {
  return `${opening}${waysTable()}\n${examples}${unanswered}${claude}${requests}${table(requestFeatures)}${ofMessages}${table(messagesFeatures)}${ofResponses}${table(responsesFeatures)}\n## What becomes of a reply\n\n${table(replyFeatures)}`;
}

function waysTable(): string {
  const head = `\n## Who speaks with whom\n\n| Upstream | ${callerDialects.join(' | ')} |\n|---${'|---'.repeat(callerDialects.length)}|\n`;
  const otherApis =
    'What else `api` names (`completions`, `audio/speech`, …) is [passed through](wire.md#further-apis) by `openai` and `azure`; no other protocol has it.';
  return `${head}${deliveryModes.map((row) => `| ${row.join(' | ')} |\n`).join('')}\n${otherApis}\n`;
}

function table(features: readonly Feature[]): string {
  const head = `| | ${dialectNames.map((name) => `\`${name}\``).join(' | ')} |\n|---${'|---'.repeat(dialectNames.length)}|\n`;
  const rows = features.map(
    ({ name, cells }) => `| ${name} | ${dialectNames.map((dialect) => toText(cells[dialect])).join(' | ')} |\n`,
  );
  return head + rows.join('');
}

const symbols: Readonly<Record<Cell['fate'], string>> = { carried: '✓', lost: 'lost', refused: 'refused', none: '–' };

function toText({ fate, how }: Cell): string {
  if (how === undefined) return symbols[fate];
  return fate === 'carried' ? `✓ ${how}` : `${symbols[fate]}: ${how}`;
}
