import type { JsonObject } from '#base/json.ts';
import type { Completion, ResponseAttachment } from '#contract/chunk.ts';

const defaultType = 'text/markdown';
/** Media types whose data is text. */
const isText = /^text\/|^application\/(json|xml|yaml|javascript|sql)$|\+(json|xml|yaml)$/;

/** A reply as the content of a tool result: its text, then its attachments. */
export function toContent({ choices: [choice] }: Completion): JsonObject[] {
  const message = choice?.message;
  const attachments = (message?.custom_content?.attachments ?? []).flatMap(toItems);
  return [{ type: 'text', text: message?.content ?? '' }, ...attachments];
}

/** None for one that has neither data nor an address. */
function toItems(attachment: ResponseAttachment, nth: number): JsonObject[] {
  const { type: mimeType = defaultType, title, data, url, reference_url } = attachment;
  const link = url ?? reference_url;
  if (data === undefined) return link === undefined ? [] : [{ type: 'resource_link', uri: link, name: title ?? link, mimeType }];
  const isBytes = !isText.test(mimeType);
  const [family = ''] = mimeType.split('/');
  if (isBytes && (family === 'image' || family === 'audio')) return [{ type: family, data, mimeType }];
  const resource = { uri: reference_url ?? `attachment:${nth}`, mimeType, ...(isBytes ? { blob: data } : { text: data }) };
  return [{ type: 'resource', resource: { ...resource, ...(title !== undefined && { _meta: { title } }) } }];
}
