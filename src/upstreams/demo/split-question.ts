/** A message taken apart: what is asked, and what is quoted to be read. */
export interface SplitQuestion {
  readonly question: string;
  readonly quoted: readonly string[];
}

const longestRead = 60_000;
const longestTail = 2000;
const longestQuestion = 600;
const fenced = /"""([\s\S]*?)"""|```([\s\S]*?)```/g;

/**
 * Fenced text (""" or ```) and lines that begin with > are quoted. Of what is longer than a question can be, the last
 * line with a question mark, else the last line, is the question and the rest is quoted too.
 */
export function splitQuestion(message: string): SplitQuestion {
  const text =
    message.length <= longestRead ? message : `${message.slice(0, longestRead - longestTail)}\n${message.slice(-longestTail)}`;
  const quoted = [...text.matchAll(fenced)].map((match) => match[1] ?? match[2] ?? '');
  const lines = text
    .replaceAll(fenced, '\n')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const cited = lines.filter((line) => line.startsWith('>')).map((line) => line.replace(/^[>\s]+/, ''));
  if (cited.length > 0) quoted.push(cited.join('\n'));
  const own = lines.filter((line) => !line.startsWith('>'));
  const whole = own.join('\n');
  if (whole.length <= longestQuestion) return { question: whole, quoted: quoted.filter((part) => part.trim() !== '') };
  const at = Math.max(
    own.findLastIndex((line) => line.endsWith('?') && line.length <= longestQuestion),
    -1,
  );
  const asked = at === -1 ? own.length - 1 : at;
  const rest = own.filter((_, index) => index !== asked).join('\n');
  return {
    question: lastSentences(own[asked] ?? ''),
    quoted: [...quoted, rest === '' ? whole : rest].filter((part) => part.trim() !== ''),
  };
}

/** A line that is too long for a question ends in one. */
function lastSentences(line: string): string {
  if (line.length <= longestQuestion) return line;
  const tail = line.slice(-longestQuestion);
  const start = tail.search(/[.!?]\s+\S/);
  return start === -1 ? tail : tail.slice(start + 1).trim();
}
