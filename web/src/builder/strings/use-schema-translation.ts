import { useCallback } from 'react';
import { useLocalizedStrings } from '../../strings/strings.tsx';
import { schemaFrench } from './schema-french.ts';
import { schemaGerman } from './schema-german.ts';
import { schemaSpanish } from './schema-spanish.ts';

/** Display titles for schema titles that are keys of a wire format. */
const plainTitles: Readonly<Record<string, string>> = {
  'Method url': 'Address',
  'Method type': 'Method',
  'Content type': 'Type of the body',
  'Rest api method info': 'Request',
  'Open ai tool': 'Tool',
  'Mcp server info': 'Server',
  'Parameter type': 'Type',
  'Token url': 'Token address',
  Url: 'Address',
  Aud: 'Audience',
  'Auth info': 'Key of the API',
  'Tool endpoints': 'Operations',
  'Constant value': 'Fixed value',
  'Item descriptor': 'Items are',
  'Item parameter type': 'Type of the items',
  'Url param': 'Sent in the query',
  'Authorization at the server. `type` selects the scheme. Default or null: none.':
    'How the service authenticates to the server.',
  'The key of each request. null: none.': 'The key sent with each request.',
  'true: the model can list and read the resources of the server with two tools.':
    'The model can list and read the resources of the server with two tools.',
  'true: prompts of the server without required values are offered as starters.':
    'Prompts of the server that need no values are offered as starters.',
  summarize: 'Clear results, then sum up',
  clear: 'Clear results',
  off: 'Nothing is done',
  streamable_http: 'Streamable HTTP',
  sse: 'Server-sent events',
};

const dictionaries = { en: plainTitles, de: schemaGerman, fr: schemaFrench, es: schemaSpanish };

/** Texts that only repeat the label or the surrounding texts. */
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
/** A statement that the default is none. */
const idleEnd = /\bDefault: none\.$/;
// Pattern bound: the user's own tab: one description of a field.
const lastOfTwo = /(?<=[.)])\s+[^.:]+:[^.]*\.$/;

/**
 * Translates a schema title or description to the language of the page. Returns an untranslated text unchanged, and '' for a
 * redundant text.
 */
export function useSchemaTranslation(): (text: string) => string {
  const strings = useLocalizedStrings<Readonly<Record<string, string>>>(dictionaries);
  return useCallback(
    (text) => {
      if (redundantTexts.has(text)) return '';
      const translated = Object.hasOwn(strings, text) ? (strings[text] ?? text) : text;
      const firstSentences = idleEnd.test(text) ? translated.replace(lastOfTwo, '') : translated;
      return firstSentences.replace(/\bDefault( or null)?:/, 'Left empty:');
    },
    [strings],
  );
}
