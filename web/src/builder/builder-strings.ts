import { useCallback } from 'react';
import { builderGerman } from '../locales/de/builder.ts';
import { schemaGerman } from '../locales/de/schema.ts';
import { type BuilderStrings, builderEnglish } from '../locales/en/builder.ts';
import { builderSpanish } from '../locales/es/builder.ts';
import { schemaSpanish } from '../locales/es/schema.ts';
import { builderFrench } from '../locales/fr/builder.ts';
import { schemaFrench } from '../locales/fr/schema.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

/** Returns the texts of the builder, which only the builder loads. */
export function useBuilderStrings(): BuilderStrings {
  return useLocalizedStrings({ en: builderEnglish, de: builderGerman, fr: builderFrench, es: builderSpanish });
}

/** Texts that replace titles, descriptions, and values of the schema, because those are written for programmers. */
const englishTexts: Readonly<Record<string, string>> = {
  'Method url': 'Address',
  'Method type': 'Method',
  'Content type': 'Body type',
  'Rest api method info': 'Request',
  'Open ai tool': 'Tool',
  'Mcp server info': 'Server',
  'Parameter type': 'Type',
  'Token url': 'Token address',
  Url: 'Address',
  Aud: 'Audience',
  'Auth info': 'Authentication',
  Tools: 'Operations',
  'Tool endpoints': 'Operations',
  'Constant value': 'Fixed value',
  'Item descriptor': 'Description of the items',
  'Item parameter type': 'Item type',
  'Url param': 'Sent in the query',
  'Authorization at the server. `type` selects the scheme. Default or null: none.': 'How this service signs in to the server.',
  'The key of each request. null: none.': 'The key sent with each request.',
  'true: the model can list and read the resources of the server with two tools.':
    'The model can list and read the resources of the server with two tools.',
  'true: prompts of the server without required values are offered as starters.':
    'Prompts of the server that need no values are offered as suggestions.',
  summarize: 'Clear tool results, then summarize',
  clear: 'Clear tool results',
  off: 'Do nothing',
  streamable_http: 'Streamable HTTP',
  sse: 'Server-sent events',
  'The task and how to do it: the system message of every conversation.':
    'The task and how to do it. The model reads this before every chat.',
  'Variety of the answers, from 0 (always similar) to 1.': 'How much the answers vary, from 0 (always similar) to 1.',
  Starters: 'Suggestions',
  'Deployments as tools': 'Other models and applications',
  'Other deployments that the model can call: by ID, or all that meet the conditions of an entry. Default: none.':
    'Other models and applications that the model can use, chosen by name or found by conditions. Left empty: none.',
  'Tools that the client runs: the reply ends with their call and continues with their result. Default: none.':
    'Tools that your own program runs. The answer pauses while your program runs them. Left empty: none.',
  'A tool that the client runs.': 'A tool that your own program runs.',
  'A token that Parley fetches with client credentials and caches until it expires.':
    'A token that this service requests with client credentials and keeps until it expires.',
  'Client id': 'Client ID',
  'true: sent in the query. false: sent in the body.': 'On: sent in the query. Off: sent in the body.',
  'Description of the array items for the model.': 'Description of the list items for the model.',
  'Data type of the items of an array.': 'Data type of the list items.',
  'Api key': 'API key',
  'true: sent in the query parameter api_key. false: sent in the header field api_key.':
    'On: sent in the query parameter api_key. Off: sent in the header field api_key.',
  'Further web APIs': 'More web APIs',
  'Transport of the server.': 'How this service communicates with the server.',
  'Prompts as starters': 'Prompts as suggestions',
  'Stored files that the model searches: a reference or a list. Parley reads them when you save. Without another embedding model, the search by meaning knows English only. Default: none.':
    'Files that the model searches. They are read when you save. Search by meaning works only in English, unless this service is set up for other languages. Left empty: none.',
  'Maximum number of passages in a search result, each with its neighbors. Default: the value of the service.':
    'Maximum number of passages in a search result, each with the text around it. Left empty: the value of the service.',
  'Minimum score of a passage, from 0 to 1: its similarity of meaning, or the share of the question’s words that it contains. Default: the value of the service.':
    'How well a passage must match, from 0 to 1, by meaning or by share of the words. Left empty: the value of the service.',
  'Maximum bytes': 'Maximum size',
  'Maximum bytes of a search result. Default: the value of the service.':
    'Maximum size of a search result, in bytes. Left empty: the value of the service.',
  'Long conversations': 'Long chats',
  'Shortening of conversations that exceed the context window of the model.': 'What to do if a chat is too long for the model.',
  'summarize: clears the oldest tool results, then the model summarizes the oldest messages. clear: clears tool results only. off: makes no changes. Default: the setting of the service.':
    'The oldest tool results are cleared first. Then the model can summarize the oldest messages. Left empty: the setting of the service.',
  'Tokens of the context window that stay free. Default: the setting of the service.':
    'How many of the tokens that the model accepts stay free. Left empty: the setting of the service.',
};

const dictionaries = { en: englishTexts, de: schemaGerman, fr: schemaFrench, es: schemaSpanish };

/** Schema texts that only repeat a label or the texts around it. */
const redundantTexts: ReadonlySet<string> = new Set([
  'ID of the model, or of another deployment, that answers.',
  'Display name of the toolset.',
  'Web APIs that the model can call. Default: none.',
  'MCP servers whose tools the model can call. Default: none.',
  'Operations that the model can call.',
  'Parameters of the tool. Can be empty.',
  'Address and method of the operation.',
  'Tool definition that the model receives.',
  'Address and transport of the server.',
  'Address of the server.',
  'Settings of document search. Default: those of the service.',
]);
/** Matches a description that ends with the information that the setting is empty by default. */
const noneByDefault = /\bDefault: none\.$/;
// Pattern bound: runs in the user's own tab, on one description of a field.
const lastSentence = /(?<=[.)])\s+[^.:]+:[^.]*\.$/;

/**
 * Returns a function that translates a schema title or description to the language of the page. It returns '' for a redundant
 * text, and the original for a text without a translation.
 */
export function useSchemaTranslation(): (text: string) => string {
  const strings = useLocalizedStrings<Readonly<Record<string, string>>>(dictionaries);
  return useCallback(
    (text) => {
      if (redundantTexts.has(text)) return '';
      const translated = Object.hasOwn(strings, text) ? (strings[text] ?? text) : text;
      const firstSentences = noneByDefault.test(text) ? translated.replace(lastSentence, '') : translated;
      return firstSentences.replace(/\bDefault( or null)?:/, 'Left empty:');
    },
    [strings],
  );
}
