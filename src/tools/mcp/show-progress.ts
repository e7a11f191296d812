import type { Progress } from '@modelcontextprotocol/client';
import type { ToolContext } from '#domain/tools/tool.ts';

const maxReports = 200;
const longestMessage = 200;

/** Tells the user of progress as it comes; what comes faster than it is read, or beyond a bound, is left out. */
export function showProgress(report: ToolContext['report'], mask: (text: string) => string): (progress: Progress) => void {
  let isReporting = false;
  let reports = 0;
  return (progress) => {
    if (isReporting || reports === maxReports) return;
    isReporting = true;
    reports += 1;
    const done = (): void => {
      isReporting = false;
    };
    report({ content: `${mask(toLine(progress))}\n\n` }).then(done, done);
  };
}

function toLine({ progress, total, message }: Progress): string {
  const amount = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? amount : `${amount}: ${message.slice(0, longestMessage)}`;
}
