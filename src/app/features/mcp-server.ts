import { mcpOperations } from '#surfaces/mcp/openapi.ts';
import { mcpRoutes } from '#surfaces/mcp/routes.ts';
import type { Feature } from '../service/feature.ts';

/** Each deployment as an MCP server. Its route also reaches the other actions on deployments. */
export const mcpServer: Feature = {
  operations: () => mcpOperations,
  add({ app, deploymentActions, ...core }) {
    mcpRoutes(app, { ...core, otherRoutes: deploymentActions });
  },
};
