import type { JsonObject } from '#base/json/json.ts';
import { quickAppType } from './applications.ts';
import type { Beginning } from './beginning.ts';
import type { BuilderWords } from './words/builder-english.ts';

/** An application that is nearly made: what it is for, and what it begins with. */
export interface Template {
  readonly name: string;
  readonly purpose: string;
  readonly beginning: Beginning;
}

/** Coordinates are what the API asks for; a model knows those of cities. */
const forecast: JsonObject = {
  rest_api_method_info: { method_url: 'https://api.open-meteo.com/v1/forecast', method_type: 'get' },
  open_ai_tool: {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'Gives the weather at a place now',
      parameters: {
        type: 'object',
        properties: {
          latitude: { type: 'number', description: 'Latitude of the place', parameter_info: { type: 'query', key: 'latitude' } },
          longitude: {
            type: 'number',
            description: 'Longitude of the place',
            parameter_info: { type: 'query', key: 'longitude' },
          },
          current: {
            ...{ type: 'string', const: 'temperature_2m,precipitation,wind_speed_10m', description: 'What is told' },
            parameter_info: { type: 'query', key: 'current' },
          },
        },
        required: ['latitude', 'longitude'],
      },
    },
  },
};

/** Three to begin with, for a model that the user may talk to. */
export function toTemplates({ templates }: BuilderWords, model: string): readonly Template[] {
  const { documents, webApi, writing } = templates;
  const toTemplate = (words: typeof documents, properties: JsonObject): Template => ({
    name: words.name,
    purpose: words.purpose,
    beginning: {
      note: words.note,
      entry: {
        ...{ displayName: words.name, description: words.purpose, applicationTypeSchemaId: quickAppType() },
        applicationProperties: { model, instructions: words.instructions, starters: words.starters, ...properties },
      },
    },
  });
  return [
    toTemplate(documents, { temperature: 0.2, document_relative_url: [] }),
    toTemplate(webApi, {
      temperature: 0.2,
      web_api_toolset: [{ type: 'rest-api', name: 'open-meteo.com', tools: [forecast] }],
    }),
    toTemplate(writing, { temperature: 0.7 }),
  ];
}
