import { complete } from '#contract/configuration/schema-node.ts';
import { ToolSettings } from '#contract/configuration/service.ts';

/** Default limits of tool runs. */
export const defaultToolSettings = complete(ToolSettings, {}) as ToolSettings;
