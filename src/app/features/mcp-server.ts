import { mcpOperations } from '#surfaces/mcp/openapi.ts';
import { mcpRoutes } from '#surfaces/mcp/routes.ts';
import type { Feature } from '../service/feature.ts';

/** Each chat deployment as an MCP server. Its wildcard route also serves the `deploymentActions` of other features. */
export const mcpServer: Feature = {
  operations: () => mcpOperations,
  add({ app, deploymentActions, ...core }) {
    mcpRoutes(app, { ...core, otherRoutes: deploymentActions });
  },
};
