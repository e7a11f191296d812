// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the tests contain references
import { expect, it } from 'vitest';
import { toReferences } from './entry-document.ts';
import { formatYaml, parseYaml } from './parse-yaml.ts';
import { substitute } from './substitute.ts';

const secret = '***';

it('replaces each masked secret with a variable with a readable and unique name', () => {
  const upstreams = [{ key: secret, headers: { 'x-token': secret } }];
  const document = {
    models: { gpt: { upstreams }, 'gpt-4.1': { upstreams: [{ key: secret }] }, 'gpt.4-1': { upstreams: [{ key: secret }] } },
    applications: { helper: { applicationProperties: { toolsets: [{ clientSecret: secret }] } } },
  };
  const { value, variables } = toReferences(document, { hasReferences: true });
  expect([...variables]).toEqual([
    ['MODELS_GPT_UPSTREAMS_0_KEY', 'models.gpt.upstreams[0].key'],
    ['MODELS_GPT_UPSTREAMS_0_HEADERS_X_TOKEN', 'models.gpt.upstreams[0].headers.x-token'],
    ['MODELS_GPT_4_1_UPSTREAMS_0_KEY', 'models["gpt-4.1"].upstreams[0].key'],
    ['MODELS_GPT_4_1_UPSTREAMS_0_KEY_2', 'models["gpt.4-1"].upstreams[0].key'],
    [
      'APPLICATIONS_HELPER_APPLICATION_PROPERTIES_TOOLSETS_0_CLIENT_SECRET',
      'applications.helper.applicationProperties.toolsets[0].clientSecret',
    ],
  ]);
  const environment = Object.fromEntries([...variables.keys()].map((name) => [name, secret]));
  expect(substitute(value, environment)).toMatchObject({ value: document, errors: [] });
  expect(toReferences(document, { hasReferences: false })).toMatchObject({ value: document, variables: new Map() });
});

it('writes YAML that the parser and substitution read as the same values', () => {
  const texts = ['yes', '1_000', '0o7', '12:30', '~', '', ' x ', '2027-01-01', 'a: b # c', '- x', 'two\nlines\n', '<<', '\u0007'];
  const entry = { texts: [...texts, '${NAME}', '$${NAME}', '$$${', '${'], numbers: [1e30, 0.1, -0], nothing: {}, list: [] };
  const document = { models: { '1': entry, yes: entry }, keys: { '${x}': { project: '${y}' } } };
  const { value } = toReferences(document, { hasReferences: true });
  const parsed = parseYaml(formatYaml(value));
  if ('errors' in parsed) throw new Error(JSON.stringify(parsed.errors));
  const { value: substituted, errors } = substitute(parsed.value, {});
  expect(errors).toEqual([]);
  expect(JSON.parse(JSON.stringify(substituted))).toEqual(JSON.parse(JSON.stringify(document)));
});
