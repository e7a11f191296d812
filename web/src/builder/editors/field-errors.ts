/** What is wrong, by the path of the field as the service writes it. */
export type FieldErrors = ReadonlyMap<string, string>;

const path = String.raw`[A-Za-z_$][\w$-]*(?:\.[A-Za-z_$][\w$-]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\])*`;
/** Each sentence begins with the path of its field; a message may hold a semicolon of its own. */
// Pattern bound: the user's own tab: one error message.
const separator = new RegExp(String.raw`; (?=(?:${path}) (?:must|is|cannot|names|has|needs|takes|was|may)\b)`);
// Pattern bound: the user's own tab: one error message.
const sentence = new RegExp(`^(${path}) (.*)$`, 's');

/** The faults that a refusal names, out of its message; `param` is the field of the first. */
export function toFieldErrors(message: string, param: string | undefined): FieldErrors {
  const errors = new Map<string, string>();
  for (const part of message
    .replace(/\.$/, '')
    .replace(/; and \d+ more$/, '')
    .split(separator)) {
    const [, field, description] = sentence.exec(part) ?? [];
    const isFirst = errors.size === 0;
    if (field !== undefined && description !== undefined && (!isFirst || field === param)) {
      if (!errors.has(field)) errors.set(field, `${description}.`);
    } else if (isFirst && param !== undefined) errors.set(param, message);
  }
  return errors;
}

/** What is wrong at a path and below it, the latter with where. */
export function listErrorsUnder(errors: FieldErrors, base: string): readonly string[] {
  return [...errors].flatMap(([path, description]) => {
    if (path === base) return [description];
    return path.startsWith(`${base}.`) || path.startsWith(`${base}[`)
      ? [`${path.slice(base.length).replace(/^\./, '')} ${description}`]
      : [];
  });
}
