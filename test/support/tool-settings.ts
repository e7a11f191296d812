import { complete } from '#contract/configuration/schema-node.ts';
import { ToolSettings } from '#contract/configuration/service.ts';

/** The bounds of tool runs where the configuration says nothing of them. */
export const defaultToolSettings = complete(ToolSettings, {}) as ToolSettings;
