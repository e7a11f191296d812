import { type Static, Type } from 'typebox';
import { fieldBounds, strict, text, texts } from '../configuration/fields.ts';
import { contextStrategies, RetrievalOfApplication } from '../configuration/service.ts';
import { ClientToolset } from './client-toolset.ts';
import { DeploymentConditions } from './conditions.ts';
import { McpToolset } from './mcp-toolset.ts';
import { ObsoleteWebToolset, RestToolset } from './web-toolset.ts';

const webToolsets = (title: string, description: string) =>
  Type.Optional(
    Type.Array(Type.Union([RestToolset, ObsoleteWebToolset]), { title, maxItems: fieldBounds.maxItems, description }),
  );

/** Room for long instructions. The body that saves an application has at most 512 KiB. */
const maxInstructionChars = 262_144;

const fileReference = Type.String({
  title: 'File',
  maxLength: fieldBounds.maxLineChars,
  pattern: '^files/[^/]+/.*[^/]$',
  errorMessage: 'must be the reference of a stored file, such as files/<bucket>/<path>',
});

/** Settings of a quick app, `applicationProperties` (docs/wire.md, Quick apps); the order is that of a form drawn from it. */
export const QuickAppForm = strict(
  {
    instructions: Type.String({
      title: 'Instructions',
      maxLength: maxInstructionChars,
      description: 'What it is to do, and how: the system message of every conversation.',
    }),
    model: text('Id of the deployment that is asked, a model as a rule.'),
    temperature: Type.Number({
      title: 'Temperature',
      minimum: 0,
      maximum: 1,
      description: 'How freely the model chooses its words, from 0 to 1.',
    }),
    starters: Type.Optional(
      texts({
        maxLength: fieldBounds.maxTextChars,
        description: 'Prompts suggested to begin with, shown as buttons. Absent: none.',
        isPublic: true,
      }),
    ),
    context: Type.Optional(
      strict(
        {
          strategy: Type.Optional(
            Type.Enum([...contextStrategies], {
              title: 'Strategy',
              description:
                'summarize: the oldest results of tools are cleared, then the oldest messages summed up by the model. clear: results are cleared alone. off: nothing is done. Absent: as the service is set up.',
            }),
          ),
          reserveTokens: Type.Optional(
            Type.Integer({
              title: 'Tokens kept free',
              minimum: 0,
              description: 'How much of what the model takes is kept free. Absent: as the service is set up.',
            }),
          ),
        },
        { title: 'Long conversations', description: 'What is done if a conversation is longer than the model takes.' },
      ),
    ),
    applications_as_tools: Type.Optional(
      Type.Array(Type.Union([text('Id of a deployment.'), DeploymentConditions]), {
        title: 'Deployments as tools',
        maxItems: fieldBounds.maxItems,
        description: 'Other deployments the model may ask: by id, or all that meet the conditions of one entry. Absent: none.',
      }),
    ),
    client_toolset: Type.Optional(
      Type.Array(ClientToolset, {
        title: 'Client tools',
        maxItems: fieldBounds.maxItems,
        description: 'Tools that the caller runs: the reply stops with their call and goes on with their result. Absent: none.',
      }),
    ),
    web_api_toolset: webToolsets('Web APIs', 'Web APIs the model may call. Absent: none.'),
    web_api_toolset_alternative: webToolsets('Further web APIs', 'More of `web_api_toolset`, in the same forms. Absent: none.'),
    mcp_toolset: Type.Optional(
      Type.Array(McpToolset, {
        title: 'MCP servers',
        maxItems: fieldBounds.maxItems,
        description: 'MCP servers whose tools the model may call. Absent: none.',
      }),
    ),
    document_relative_url: Type.Optional(
      Type.Union([fileReference, Type.Array(fileReference, { maxItems: fieldBounds.maxItems })], {
        title: 'Documents',
        description:
          'Stored files that answers are looked up in, by reference, one or a list; they are read once this is saved. What they mean is searched in English alone, unless the service names another embedding model. Absent: none.',
      }),
    ),
    retrieval: Type.Optional(RetrievalOfApplication),
  },
  { description: 'A quick app: a model with instructions, starters and tools.' },
);
export type QuickAppForm = Static<typeof QuickAppForm>;
