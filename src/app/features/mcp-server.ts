import { mcpOperations } from '#surfaces/mcp/openapi.ts';
import { mcpRoutes } from '#surfaces/mcp/routes.ts';
import type { Feature } from '../service/feature.ts';

/** Each chat deployment as an MCP server. This route also calls the handlers of further actions on deployments. */
export const mcpServer: Feature = {
  operations: () => mcpOperations,
  add({ app, deploymentActions, ...core }) {
    mcpRoutes(app, { ...core, otherRoutes: deploymentActions });
  },
};
