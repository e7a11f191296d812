import type { LanguageModelV4File, LanguageModelV4Source } from '@ai-sdk/provider';
import type { ResponseAttachment } from '#contract/chunk.ts';

type Attachment = Omit<ResponseAttachment, 'index'>;

/** A file that the model made. */
export function fileAttachment({ mediaType: type, data }: LanguageModelV4File): Attachment {
  if (data.type === 'url') return { type, url: data.url.href };
  return { type, data: typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64') };
}

/** Where the answer is from. */
export function sourceAttachment(source: LanguageModelV4Source): Attachment {
  const title = source.title === undefined ? {} : { title: source.title };
  if (source.sourceType === 'url') return { type: 'text/plain', ...title, data: '', reference_url: source.url };
  return { type: 'text/plain', ...title, data: source.filename ?? '' };
}
