/** What is wrong, by the path of the field as the service writes it. */
export type FieldFaults = ReadonlyMap<string, string>;

const path = String.raw`[A-Za-z_$][\w$-]*(?:\.[A-Za-z_$][\w$-]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\])*`;
/** Each sentence begins with the path of its field; a message may hold a semicolon of its own. */
// Pattern bound: the user's own tab: one error message.
const between = new RegExp(String.raw`; (?=(?:${path}) (?:must|is|cannot|names|has|needs|takes|was|may)\b)`);
// Pattern bound: the user's own tab: one error message.
const sentence = new RegExp(`^(${path}) (.*)$`, 's');

/** The faults that a refusal names, out of its message; `param` is the field of the first. */
export function toFieldFaults(message: string, param: string | undefined): FieldFaults {
  const faults = new Map<string, string>();
  for (const part of message
    .replace(/\.$/, '')
    .replace(/; and \d+ more$/, '')
    .split(between)) {
    const [, field, what] = sentence.exec(part) ?? [];
    const isFirst = faults.size === 0;
    if (field !== undefined && what !== undefined && (!isFirst || field === param)) {
      if (!faults.has(field)) faults.set(field, `${what}.`);
    } else if (isFirst && param !== undefined) faults.set(param, message);
  }
  return faults;
}

/** What is wrong at a path and below it, the latter with where. */
export function faultsUnder(faults: FieldFaults, base: string): readonly string[] {
  return [...faults].flatMap(([at, what]) => {
    if (at === base) return [what];
    return at.startsWith(`${base}.`) || at.startsWith(`${base}[`) ? [`${at.slice(base.length).replace(/^\./, '')} ${what}`] : [];
  });
}
