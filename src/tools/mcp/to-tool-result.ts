import type { CallToolResult, ContentBlock, EmbeddedResource, ResourceLink } from '@modelcontextprotocol/client';
import { truncate } from '#base/text/truncate.ts';
import type { Attachment, ToolResult } from '#domain/tools/tool.ts';
import { unknownPartText } from './normalize-replies.ts';

const maxBlocks = 200;
const maxTitleChars = 200;
const unmaskedKeys: ReadonlySet<string> = new Set(['type', 'data', 'blob']);

/** One part of a result: the text for the model, and the attachment for the user. */
interface Part {
  readonly text: string;
  readonly attachment?: Attachment;
}

/**
 * Converts a server's result. Text stays text. Other content becomes an attachment, and the model receives a line that mentions
 * it instead of base64. `mask` removes credentials from a text before the text is truncated.
 */
export function toToolResult(
  { content, structuredContent, isError }: CallToolResult,
  mask: (text: string) => string,
): ToolResult {
  const parts = content.slice(0, maxBlocks).map((block) => toPart(maskTexts(block, mask), mask));
  const omittedCount = content.length - parts.length;
  const lines = parts.map(({ text }) => text);
  if (omittedCount > 0) lines.push(`[${omittedCount} more parts were left out.]`);
  if (structuredContent !== undefined && !content.some(({ type }) => type === 'text'))
    lines.unshift(mask(JSON.stringify(structuredContent)));
  return {
    text: lines.join('\n\n'),
    attachments: parts.flatMap(({ attachment }) => attachment ?? []),
    failed: isError === true,
  };
}

/** Masks the texts of a block. Does not mask bytes, because a short secret matches base64 by chance. */
function maskTexts<Block extends object>(block: Block, mask: (text: string) => string): Block {
  const maskedEntries = Object.entries(block).map(([key, value]) =>
    typeof value === 'string' && !unmaskedKeys.has(key) ? [key, mask(value)] : [key, value],
  );
  return Object.fromEntries(maskedEntries) as Block;
}

function toPart(block: ContentBlock, mask: (text: string) => string): Part {
  switch (block.type) {
    case 'text':
      return { text: block.text };
    case 'image':
      return toMedia('Image', block);
    case 'audio':
      return toMedia('Audio', block);
    case 'resource_link':
      return toLink(block);
    case 'resource':
      return toResource(maskTexts(block.resource, mask), mask);
    default:
      return { text: unknownPartText };
  }
}

function toMedia(label: string, { data, mimeType }: { data: string; mimeType: string }): Part {
  const type = toMediaType(mimeType, 'application/octet-stream');
  return { text: `[${label} (${type}): the user was shown it.]`, attachment: { type, title: label, data } };
}

/** Converts a link to a text attachment that refers to the address, because an attachment must have data or a URL. */
function toLink({ uri, name, title = name, description, mimeType }: ResourceLink): Part {
  const displayTitle = truncate(title, maxTitleChars);
  const data = description === undefined ? displayTitle : `${displayTitle}\n\n${description}`;
  const type = mimeType === undefined ? undefined : toMediaType(mimeType, 'application/octet-stream');
  return {
    text: `[Resource ${displayTitle}: ${uri}${type === undefined ? '' : ` (${type})`}${description === undefined ? '' : `: ${description}`}]`,
    attachment: { type: 'text/markdown', title: displayTitle, data, ...toReference(uri, type) },
  };
}

function toResource(resource: EmbeddedResource['resource'], mask: (text: string) => string): Part {
  const { uri, mimeType = '' } = resource;
  const type = toMediaType(mimeType, 'text' in resource ? 'text/plain' : 'application/octet-stream');
  const common = { type, title: truncate(uri, maxTitleChars), ...toReference(uri, type) };
  if ('text' in resource) return { text: resource.text, attachment: { ...common, data: resource.text } };
  const { blob } = resource;
  const text = toText(blob, type);
  if (text !== undefined) {
    const maskedText = mask(text);
    return { text: maskedText, attachment: { ...common, data: maskedText } };
  }
  return {
    text: `[Resource ${common.title} (${type}): the user was shown it.]`,
    attachment: { ...common, data: blob },
  };
}

/** Decodes bytes whose type is text. */
function toText(blob: string, type: string): string | undefined {
  return /^text\/|[/+](json|xml|yaml)$/.test(type) ? Buffer.from(blob, 'base64').toString('utf8') : undefined;
}

/** Drops addresses that would execute or contain content when opened. */
function toReference(uri: string, type: string | undefined): Pick<Attachment, 'reference_url' | 'reference_type'> {
  if (!URL.canParse(uri) || /^(javascript|vbscript|data|blob):/i.test(uri.trim())) return {};
  return { reference_url: uri, ...(type !== undefined && { reference_type: type }) };
}

function toMediaType(mimeType: string, fallback: string): string {
  const [type = ''] = mimeType.toLowerCase().split(';');
  return /^[\w.+-]+\/[\w.+-]+$/.test(type.trim()) ? type.trim() : fallback;
}
