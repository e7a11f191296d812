import type { ToolsetInstructions } from '#domain/tools/tool.ts';
import { cutText } from '../results/cut-text.ts';

const maxServerBytes = 8 * 1024;
/** A shorter part says nothing. */
const leastBytes = 1024;
const maxBytes = 32 * 1024;

/** The instructions of an application, and behind them what servers say of their tools, each under the name of its toolset; 8 KiB of a server at most, 32 KiB of all. */
export function withServersWords(instructions: string, words: readonly ToolsetInstructions[]): string {
  const sections = [instructions];
  let leftBytes = maxBytes;
  for (const { toolset, text } of words) {
    const roomBytes = Math.min(maxServerBytes, leftBytes);
    const kept = cutText(text, roomBytes);
    const isWhole = kept.length === text.length;
    if (!isWhole && roomBytes < leastBytes) continue;
    leftBytes -= Buffer.byteLength(kept);
    const shown = isWhole ? kept : `${kept.trimEnd()}\n[The rest was left out.]`;
    sections.push(`# ${toolset}\n\nThe server of these tools says of them:\n\n${shown}`);
  }
  return sections.filter((section) => section !== '').join('\n\n');
}
