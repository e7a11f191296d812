import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { QuickApp } from '#domain/quick-app/quick-app.ts';
import { toCallersTools } from './callers-tools.ts';

/** The fields of a request that a quick app does not hand to its model, since it is made with its own. */
export function ignoredByQuickApp(app: QuickApp, request: ChatRequest): string[] {
  const { temperature, addons = [] } = request;
  return [
    ...toCallersTools(app, request).ignored,
    ...(temperature !== undefined && temperature !== app.temperature ? ['temperature'] : []),
    ...(addons.length > 0 ? ['addons'] : []),
  ];
}
