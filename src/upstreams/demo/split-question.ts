/** A message taken apart: what is asked, and what is quoted to be read. */
export interface SplitQuestion {
  readonly question: string;
  readonly quoted: readonly string[];
}

const longestRead = 60_000;
const longestTail = 2000;
const longestQuestion = 600;
// Pattern bound: linear. Marks pair up, so only the last one can search in vain.
const fenced = /"""([\s\S]*?)"""|```([\s\S]*?)```/g;

/**
 * Fenced text (""" or ```) and lines that begin with > are quoted. Of what is longer than a question can be, the last
 * line with a question mark, else the last line, is the question and the rest is quoted too.
 */
export function splitQuestion(message: string): SplitQuestion {
  const text =
    message.length <= longestRead ? message : `${message.slice(0, longestRead - longestTail)}\n${message.slice(-longestTail)}`;
  const lines = text
    .replaceAll(fenced, '\n')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const own = lines.filter((line) => !line.startsWith('>'));
  const cited = lines.filter((line) => line.startsWith('>')).map((line) => line.replace(/^[>\s]+/, ''));
  const quoted = [...text.matchAll(fenced)].map((match) => match[1] ?? match[2] ?? '');
  quoted.push(cited.join('\n'));
  let question = own.join('\n');
  if (question.length > longestQuestion) {
    const last = own.findLast((line) => line.endsWith('?') && line.length <= longestQuestion) ?? own.at(-1) ?? '';
    quoted.push(own.length === 1 ? last : own.filter((line) => line !== last).join('\n'));
    question = lastSentence(last);
  }
  return { question, quoted: quoted.filter((part) => part.trim() !== '') };
}

/** A line that is too long for a question ends in one. */
function lastSentence(line: string): string {
  if (line.length <= longestQuestion) return line;
  const tail = line.slice(-longestQuestion);
  // Pattern bound: at most 600 characters, the tail of a line.
  return (tail.match(/[^.!?]+[.!?]*$/)?.[0] ?? tail).trim();
}
