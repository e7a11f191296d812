import type { JsonObject } from '#base/json/json.ts';
import type { ResponseAttachment } from '#contract/chat/chunk.ts';

/** A citation as an attachment: the passage, and where it is from. */
export function toAttachment(citation: JsonObject, index: number): ResponseAttachment {
  const { cited_text: passage, url, source } = citation;
  const title = [citation.title, citation.document_title].find(isText);
  const from = [url, source].find(isText);
  return {
    index,
    type: 'text/plain',
    ...(title !== undefined && { title }),
    data: isText(passage) ? passage : '',
    ...(from !== undefined && { reference_url: from }),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
