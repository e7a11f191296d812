import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { quickAppFaults } from '#contract/quick-app/quick-app-faults.ts';
import type { RestMethod, RestToolDefinition } from '../tools/rest-tool.ts';
import { toRestToolDefinition } from './to-quick-app.ts';
import { toRestApiTool } from './to-rest-api-tool.ts';

const definition: RestToolDefinition = {
  name: 'find',
  description: 'Finds.',
  method: 'POST',
  url: 'https://api.example/{shop}/find',
  parameters: {
    type: 'object',
    properties: { shop: { type: 'string' }, query: { type: 'string', description: 'What.' }, many: { type: 'array' } },
    required: ['shop'],
  },
  arguments: [
    { name: 'shop', place: 'path', key: 'shop' },
    { name: 'query', place: 'query', key: 'q' },
    { name: 'many', place: 'body', key: 'many' },
  ],
  constants: [{ place: 'header', key: 'X-Version', value: 2 }],
  contentType: 'application/json',
  isPublic: false,
};

describe('an operation in the form of quick apps', () => {
  it('says where each value goes and what is fixed', () => {
    expect(toRestApiTool(definition)).toEqual({
      rest_api_method_info: { method_url: 'https://api.example/{shop}/find', method_type: 'post' },
      open_ai_tool: {
        type: 'function',
        function: {
          name: 'find',
          description: 'Finds.',
          parameters: {
            type: 'object',
            properties: {
              shop: { type: 'string', parameter_info: { type: 'path', key: 'shop' } },
              query: { type: 'string', description: 'What.', parameter_info: { type: 'query', key: 'q' } },
              many: { type: 'array', parameter_info: { type: 'body', key: 'many' } },
              'X-Version': { type: null, const: 2, parameter_info: { type: 'header', key: 'X-Version' } },
            },
            required: ['shop'],
          },
        },
      },
    });
  });

  it('is the operation again once it is read', () => {
    expect(toRestToolDefinition(toRestApiTool(definition))).toEqual(definition);
  });

  it('gives a constant another name where an argument has its own', () => {
    const both = { ...definition, constants: [{ place: 'header' as const, key: 'shop', value: 'x' }] };
    expect(toRestToolDefinition(toRestApiTool(both))).toEqual(both);
  });

  it('shows the model a value that it alone may give, in place of hiding it', () => {
    const only = {
      ...definition,
      parameters: { type: 'object', properties: { kind: { const: 'cat' } } },
      arguments: [{ name: 'kind', place: 'query' as const, key: 'kind' }],
      constants: [],
    };
    const read = toRestToolDefinition(toRestApiTool(only));
    expect([read.parameters, read.constants]).toEqual([{ type: 'object', properties: { kind: { enum: ['cat'] } } }, []]);
  });

  it('says how a list is written, what the body is, and which field is a file', () => {
    const parameters = {
      type: 'object',
      properties: { tags: { type: 'array' }, file: { type: 'string', format: 'binary' }, rest: { type: 'object' } },
    };
    const form: RestToolDefinition = {
      ...definition,
      parameters,
      arguments: [
        { name: 'tags', place: 'query', key: 'tags', style: 'pipeDelimited', explode: false },
        { name: 'file', place: 'body', key: 'file', isFile: true },
        { name: 'rest', place: 'whole_body', key: 'body', style: 'deepObject' },
      ],
      constants: [],
      contentType: 'multipart/form-data',
    };
    expect(toRestApiTool(form).rest_api_method_info).toMatchObject({ content_type: 'multipart/form-data' });
    expect(toRestToolDefinition(toRestApiTool(form))).toEqual(form);
  });
});

const name = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_-]{0,20}$/);
const odd = fc.oneof(name, fc.constantFrom('constructor', 'toString', '2', 'hasOwnProperty'));
const place = fc.constantFrom('path', 'query', 'header', 'body' as const);
const schema = fc.record({ type: fc.constantFrom('string', 'integer', 'array'), description: fc.string() });
const argument = fc.record({ name: odd, place, key: odd, schema, isRequired: fc.boolean() });
const operation = fc
  .record({
    name,
    description: fc.string(),
    method: fc.constantFrom<RestMethod>('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
    given: fc.uniqueArray(argument, { selector: (it) => it.name, maxLength: 6 }),
    constants: fc.array(fc.record({ place, key: odd, value: fc.jsonValue() }), { maxLength: 3 }),
  })
  .map(({ given, ...rest }): RestToolDefinition => {
    // Keys that are numbers come first in every object: they are put there to begin with.
    const inOrder = [...given].sort((one, other) => Number(other.name === '2') - Number(one.name === '2'));
    const required = inOrder.filter(({ isRequired }) => isRequired).map((it) => it.name);
    return {
      ...rest,
      url: 'https://api.example/',
      parameters: {
        type: 'object',
        properties: Object.fromEntries(inOrder.map((it) => [it.name, it.schema])),
        ...(required.length > 0 && { required }),
      },
      arguments: inOrder.map((it) => ({ name: it.name, place: it.place, key: it.key })),
      constants: rest.constants.filter(({ key }) => key !== '2'),
      contentType: 'application/json',
      isPublic: false,
    };
  });

it('any operation that the form has words for comes through it unchanged, and the form is without fault', () => {
  fc.assert(
    fc.property(operation, (given) => {
      const tool = toRestApiTool(given);
      const toolset = { type: 'rest-api', name: 'api', authorization: null, tools: [JSON.parse(JSON.stringify(tool))] };
      const faults = quickAppFaults({ temperature: 0, instructions: '', model: 'm', web_api_toolset: [toolset] });
      expect(faults).toEqual([]);
      expect(toRestToolDefinition(tool)).toEqual(given);
    }),
  );
});
