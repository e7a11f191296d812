import { useCallback } from 'react';
import { useWordsOf } from '../words/words.tsx';
import { schemaFrench } from './schema-french.ts';
import { schemaGerman } from './schema-german.ts';
import { schemaSpanish } from './schema-spanish.ts';

/** Titles of the schema that are the keys of a wire format rather than words for people. */
const plainer: Readonly<Record<string, string>> = {
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
  'How the server is told who calls; `type` picks the form. Absent or null: it is told nothing.':
    'How the server is told who calls.',
  'The key sent with each request; null: none.': 'The key sent with each request.',
  'true: the model may list and read what the server has to read, with two tools.':
    'The model may list and read what the server has to read, with two tools.',
  'true: prompts of the server that need no values are offered to begin with.':
    'Prompts of the server that need no values are offered to begin with.',
  summarize: 'Clear results, then sum up',
  clear: 'Clear results',
  off: 'Nothing is done',
  streamable_http: 'Streamable HTTP',
  sse: 'Server-sent events',
};

const dictionaries = { en: plainer, de: schemaGerman, fr: schemaFrench, es: schemaSpanish };

/** Says a title or a description of the schema in the language of the page; as it is where there is no word for it. */
export function useSchemaWords(): (text: string) => string {
  const words = useWordsOf<Readonly<Record<string, string>>>(dictionaries);
  return useCallback(
    (text) => {
      const said = Object.hasOwn(words, text) ? (words[text] ?? text) : text;
      return said.replace(/\bAbsent( or null)?:/, 'Left empty:');
    },
    [words],
  );
}
