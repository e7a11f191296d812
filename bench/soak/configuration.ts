/** Number of projects with a key. Users of the identity provider call the node too. */
export const projects = 200;
export const toKey = (index: number): string => `soak-key-${index}`;
/** A key whose limit is reached quickly. */
export const limitedKey = 'soak-limited';

const quickApps = 'https://soak.example/custom_application_schemas/quickapps';

/** Creates the configuration of a node under a mixed load. `url` is the address of the world. */
export function toConfiguration(url: string): object {
  const openai = { upstreams: [{ endpoint: `${url}/v1`, key: 'sk-upstream', model: 'upstream-model' }] };
  const branch = { type: 'string', parameter_info: { type: 'query', key: 'branch' } };
  const openingHours = {
    rest_api_method_info: { method_url: `${url}/tool`, method_type: 'get' },
    open_ai_tool: {
      type: 'function',
      function: {
        name: 'opening_hours',
        description: 'When a branch is open.',
        parameters: { type: 'object', properties: { branch } },
      },
    },
  };
  const settings = { temperature: 0, instructions: 'Help.', model: 'gpt' };
  return {
    models: {
      gpt: openai,
      vectors: { type: 'embedding', ...openai },
      claude: { upstreams: [{ protocol: 'anthropic', endpoint: `${url}/v1`, key: 'sk-upstream' }] },
    },
    applications: {
      app: {
        applicationTypeSchemaId: quickApps,
        applicationProperties: { ...settings, web_api_toolset: [{ type: 'rest-api', name: 'Library', tools: [openingHours] }] },
        features: { consentRequired: true },
      },
      assistant: { applicationTypeSchemaId: quickApps, applicationProperties: { ...settings, applications_as_tools: ['app'] } },
    },
    keys: {
      ...Object.fromEntries(
        Array.from({ length: projects }, (_, index) => [toKey(index), { project: `project-${index}`, role: 'default' }]),
      ),
      [limitedKey]: { project: 'limited', role: 'limited' },
    },
    roles: {
      default: { limits: { '*': { minute: 1_000_000_000, requestMinute: 1_000_000 } } },
      limited: { limits: { '*': { requestMinute: 5 } } },
    },
    identityProviders: { soak: { issuer: url } },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  };
}
